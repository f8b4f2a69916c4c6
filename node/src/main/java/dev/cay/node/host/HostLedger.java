package dev.cay.node.host;

import dev.cay.life.WholeFile;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/// What all Cays of one host must know of each other: who is there with what, and which kernel settings were changed.
///
/// One file, changed under one lock, in a directory that a reboot empties. Whoever was killed and left nothing running
/// is forgotten by the next who looks.
public final class HostLedger {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Path BOOT = Path.of("/proc/sys/kernel/random/boot_id");

    /// A kernel setting that was raised.
    ///
    /// @param original what it was before the first of us came
    record Setting(String original, String ours) {}

    /// All that is in the file. The maps may be changed by whoever holds the lock.
    ///
    /// @param reservations of tests and measurements, by the instance's name; missing in files of older versions
    record Book(
            String boot,
            Map<String, Setting> settings,
            Map<String, HostClaim> instances,
            @Nullable Map<String, Reservation> reservations) {
        static Book empty() {
            return new Book(bootNow(), new LinkedHashMap<>(), new LinkedHashMap<>(), new LinkedHashMap<>());
        }

        Book copy() {
            return new Book(
                    boot,
                    new LinkedHashMap<>(settings),
                    new LinkedHashMap<>(instances),
                    reservations == null ? new LinkedHashMap<>() : new LinkedHashMap<>(reservations));
        }

        Map<String, Reservation> reserved() {
            return Objects.requireNonNull(reservations, "a book that was read has them");
        }

        /// All that is taken. A daemon that uses what is reserved for it counts once.
        List<HostClaim> claims() {
            return Stream.concat(
                            instances.values().stream(),
                            reserved().values().stream()
                                    .map(Reservation::claim)
                                    .filter(claim -> !instances.containsKey(claim.instance())))
                    .toList();
        }

        static String bootNow() {
            try {
                return Files.readString(BOOT).strip();
            } catch (IOException _) {
                return "";
            }
        }
    }

    private final Path directory;

    /// The one that all daemons of this host share.
    public static HostLedger ofHost() {
        return new HostLedger(Path.of("/run/cay-host"));
    }

    public HostLedger(Path directory) {
        this.directory = directory;
    }

    /// Enters an instance, or refuses it when it wants what another one has.
    public void join(HostClaim claim) {
        change(book -> {
            var clashes = book.claims().stream()
                    .filter(other -> !isSame(claim, other))
                    .flatMap(other -> claim.clashes(other).stream())
                    .toList();
            if (!clashes.isEmpty()) {
                throw new CayException(ErrorKind.CONFLICT, String.join("\n", clashes));
            }
            return book.instances().put(claim.instance(), claim);
        });
    }

    /// Reserves what no other instance and no other test has. The directory must exist.
    ///
    /// @param prefix length of the prefix of the address range
    public Reservation reserve(Path directory, int prefix) {
        return change(book -> {
            try {
                var made = Reservation.choose(directory, prefix, book.claims(), HostRoutes.ofHost());
                if (made.isAbandoned()) {
                    throw new CayException(ErrorKind.CANCELED, "the `cay test` that this test belongs to has ended");
                }
                book.reserved().put(made.instance(), made);
                return made;
            } catch (IOException e) {
                throw new CayException(ErrorKind.UNAVAILABLE, "cannot reserve a place: " + e.getMessage(), e);
            }
        });
    }

    public Optional<Reservation> reservation(String instance) {
        return change(book -> List.copyOf(book.reserved().values())).stream()
                .filter(reservation -> reservation.instance().equals(instance))
                .findFirst();
    }

    /// Gives back what was reserved. Everything that was made with it must be gone.
    public void release(Reservation reservation) {
        change(book -> book.reserved().keySet().remove(reservation.instance()));
    }

    /// Takes over a reservation whose process, or whose `cay test`, is gone. The caller ends and removes what is left
    /// of it and then calls {@link #release}; nobody else gets it meanwhile.
    public Optional<Reservation> takeAbandoned() {
        return change(book -> {
            var found = book.reserved().values().stream()
                    .filter(Reservation::isAbandoned)
                    .findFirst()
                    .map(old ->
                            new Reservation(old.claim(), HostProcess.current().toString(), null));
            found.ifPresent(taken -> book.reserved().put(taken.instance(), taken));
            return found;
        });
    }

    /// The daemon that uses a reservation, if one runs.
    public Optional<HostProcess> daemon(Reservation reservation) {
        return instances().stream()
                .filter(claim -> isSame(claim, reservation.claim()))
                .findFirst()
                .map(claim -> new HostProcess(claim.pid(), claim.began()))
                .filter(HostProcess::runs);
    }

    /// Processes of `cay test` that are gone and left their file in `runs`.
    public List<HostProcess> deadRuns() {
        try (var files = Files.list(runs())) {
            return files.map(file -> HostProcess.parse(file.getFileName().toString()))
                    .flatMap(Optional::stream)
                    .filter(run -> !run.runs())
                    .toList();
        } catch (IOException _) {
            return List.of();
        }
    }

    /// Where the tests of a run have their temporary files, if they had come so far.
    public Optional<Path> runDirectory(HostProcess run) {
        try {
            return Optional.of(Files.readString(runs().resolve(run.toString())).strip())
                    .filter(text -> text.startsWith("/") && Path.of(text).getNameCount() > 1)
                    .map(Path::of);
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    public void forgetRun(HostProcess run) {
        try {
            Files.deleteIfExists(runs().resolve(run.toString()));
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "cannot forget the test run " + run, e);
        }
    }

    private Path runs() {
        return directory.resolve("runs");
    }

    /// Who is there.
    public List<HostClaim> instances() {
        return change(book -> List.copyOf(book.instances().values()));
    }

    private static boolean isSame(HostClaim one, HostClaim other) {
        return one.instance().equals(other.instance()) && one.stateDir().equals(other.stateDir());
    }

    /// Reads, forgets who is gone, lets the caller look and change, writes. What the caller throws changes nothing.
    <T> T change(Function<Book, T> action) {
        try {
            Files.createDirectories(directory);
            // Root's alone: whoever may read a file may also lock it.
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
            return new HostLock(directory.resolve("lock"), LIMIT).hold(() -> {
                var book = read();
                book.instances().values().removeIf(claim -> !claim.holds());
                T result = action.apply(book);
                write(book);
                return result;
            });
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE, "cannot keep the list of this host's Cays in " + directory, e);
        }
    }

    /// A file that makes no sense is as good as none: what it said of settings is lost, but nobody is
    /// kept from starting.
    private Book read() throws IOException {
        try {
            var book = JSON.readValue(Files.readString(file(), StandardCharsets.UTF_8), Book.class);
            boolean ofThisBoot = book != null && Book.bootNow().equals(book.boot());
            return ofThisBoot ? book.copy() : Book.empty();
        } catch (NoSuchFileException | JacksonException | NullPointerException _) {
            return Book.empty();
        }
    }

    /// Nobody on it: then no trace is left but the lock, which somebody may be waiting for.
    private void write(Book book) throws IOException {
        if (book.instances().isEmpty()
                && book.settings().isEmpty()
                && book.reserved().isEmpty()) {
            Files.deleteIfExists(file());
            return;
        }
        WholeFile.write(file(), JSON.writerWithDefaultPrettyPrinter().writeValueAsString(book) + "\n");
    }

    private Path file() {
        return directory.resolve("host.json");
    }
}
