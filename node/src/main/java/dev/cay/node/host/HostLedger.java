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

/// The facts that all Cays of one host share: the instances with their resources, and the kernel settings that were
/// changed.
///
/// One file, changed under one lock, in a directory that a reboot empties. The next reader removes a killed instance
/// without running sandboxes.
public final class HostLedger {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Path BOOT = Path.of("/proc/sys/kernel/random/boot_id");

    /// A raised kernel setting.
    ///
    /// @param original its value before the first Cay raised it
    record Setting(String original, String ours) {}

    /// The content of the file. The holder of the lock may change the maps.
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

        /// All claims. A daemon with a reservation counts once.
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

    /// The ledger that all daemons of this host share.
    public static HostLedger ofHost() {
        return new HostLedger(Path.of("/run/cay-host"));
    }

    public HostLedger(Path directory) {
        this.directory = directory;
    }

    /// Adds an instance, or refuses it when another one has one of its resources.
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

    /// Releases a reservation. Everything that was made with it must be removed before.
    public void release(Reservation reservation) {
        change(book -> book.reserved().keySet().remove(reservation.instance()));
    }

    /// Takes over a reservation whose process, or whose `cay test`, has ended. The caller removes its resources and
    /// then calls {@link #release}; no other process gets it meanwhile.
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

    /// Processes of `cay test` that have ended and left their file in `runs`.
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

    /// The directory for temporary files of a run's tests, if it was recorded.
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

    /// The claims of all instances.
    public List<HostClaim> instances() {
        return change(book -> List.copyOf(book.instances().values()));
    }

    private static boolean isSame(HostClaim one, HostClaim other) {
        return one.instance().equals(other.instance()) && one.stateDir().equals(other.stateDir());
    }

    /// Reads, removes ended instances, calls the action, and writes. An exception of the action changes nothing.
    <T> T change(Function<Book, T> action) {
        try {
            Files.createDirectories(directory);
            // For root only, because a process that can read a file can also lock it.
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

    /// Reads the file. An invalid file is treated as missing: the original settings are lost, but daemons can start.
    private Book read() throws IOException {
        try {
            var book = JSON.readValue(Files.readString(file(), StandardCharsets.UTF_8), Book.class);
            boolean ofThisBoot = book != null && Book.bootNow().equals(book.boot());
            return ofThisBoot ? book.copy() : Book.empty();
        } catch (NoSuchFileException | JacksonException | NullPointerException _) {
            return Book.empty();
        }
    }

    /// Writes the file. Without instances it is deleted; only the lock stays, because a process may be waiting for it.
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
