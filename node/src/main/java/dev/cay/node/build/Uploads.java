package dev.cay.node.build;

import dev.cay.life.RootOnly;
import dev.cay.node.image.Unused;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Archives of files that steps copy, by the team that sent them and a hash that its client chose. No team sees
/// what another one sent.
final class Uploads {
    private static final Logger log = LoggerFactory.getLogger(Uploads.class);
    private static final Pattern HASH = Pattern.compile("[0-9a-f]{64}");
    private static final Pattern TEAM = Pattern.compile("[A-Za-z0-9-]{1,64}");
    private static final int BUFFER = 256 << 10;
    private static final String PART = ".part";

    /// Bytes that must stay free on the disk.
    private static final long RESERVE = 512L << 20;

    /// Most bytes of all archives of a team. The least recently used ones make sandbox for new ones.
    private static final long MOST_OF_TEAM = 10L << 30;

    private static final Duration BEFORE_BUILD = Duration.ofHours(1);

    private final Path directory;

    Uploads(Path stateDir) {
        this.directory = stateDir.resolve("uploads");
    }

    /// Whether an archive exists. The client then does not send it, and builds with it soon, so this counts as a use.
    boolean has(TeamId team, String hash) {
        var place = place(team, hash);
        return Files.isRegularFile(place) && place.toFile().setLastModified(System.currentTimeMillis());
    }

    void put(TeamId team, String hash, InputStream content, long length) throws IOException {
        var place = place(team, hash);
        RootOnly.directory(directory);
        var folder = RootOnly.directory(directory.resolve(team.value()));
        if (length > directory.toFile().getUsableSpace() - RESERVE) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "this machine has no sandbox for an archive of %d MB; let the operator make sandbox in %s"
                            .formatted(length >> 20, directory));
        }
        makeRoom(folder, length);
        var fresh = Files.createTempFile(folder, hash + ".", PART);
        try {
            long got;
            try (var out = Files.newOutputStream(fresh)) {
                got = copy(content, out, length);
            }
            if (got != length) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT,
                        "the archive has %s bytes, and Content-Length says %d; send it again"
                                .formatted(got > length ? "more" : Long.toString(got), length));
            }
            Files.move(fresh, place, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(fresh);
        }
    }

    /// Removes what a killed daemon had received of archives. Call this before the first archive is received.
    void removeUnfinished() {
        if (!Files.isDirectory(directory)) {
            return;
        }
        try (var all = Files.walk(directory, 2)) {
            for (var part : (Iterable<Path>) all.filter(each -> each.toString().endsWith(PART))::iterator) {
                Files.deleteIfExists(part);
            }
        } catch (IOException | UncheckedIOException e) {
            log.atWarn().setCause(e).log("cannot delete unfinished uploads");
        }
    }

    /// Deletes old archives. One that a step is reading can still be read to its end.
    private static void makeRoom(Path folder, long length) throws IOException {
        List<Path> archives;
        try (var files = Files.list(folder)) {
            archives = files.sorted(
                            Comparator.comparingLong(file -> file.toFile().lastModified()))
                    .toList();
        }
        long all = length;
        for (var archive : archives) {
            all += archive.toFile().length();
        }
        for (var archive : archives) {
            if (all <= MOST_OF_TEAM) {
                return;
            }
            all -= archive.toFile().length();
            Files.deleteIfExists(archive);
        }
    }

    private static long copy(InputStream from, OutputStream to, long most) throws IOException {
        byte[] buffer = new byte[BUFFER];
        long all = 0;
        for (int length = from.read(buffer); length >= 0 && all <= most; length = from.read(buffer)) {
            to.write(buffer, 0, length);
            all += length;
        }
        return all;
    }

    /// The path of an archive.
    Path require(TeamId team, String hash) throws IOException {
        if (!has(team, hash)) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "the files %s were not sent".formatted(hash));
        }
        var place = place(team, hash);
        Files.setLastModifiedTime(place, FileTime.from(Instant.now()));
        return place;
    }

    /// The archive itself, whether it was sent compressed or not.
    InputStream open(TeamId team, String hash) throws IOException {
        var place = require(team, hash);
        var in = new BufferedInputStream(Files.newInputStream(place), BUFFER);
        in.mark(2);
        boolean compressed = in.read() == 0x1f && in.read() == 0x8b;
        in.reset();
        return compressed ? new GZIPInputStream(in, BUFFER) : in;
    }

    /// Archives that no step has read since, and files of interrupted transfers.
    ///
    /// @param before never less than an hour ago: a build begins after its archive was sent
    List<Unused> unused(Instant before) {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        var latest = Instant.now().minus(BEFORE_BUILD);
        var bound = before.isBefore(latest) ? before : latest;
        try (var files = Files.walk(directory, 2)) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> file.toFile().lastModified() <= bound.toEpochMilli())
                    .map(file -> new Unused(
                            "upload",
                            file.getFileName().toString(),
                            file.toFile().length(),
                            () -> delete(file)))
                    .toList();
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "cannot look for unused files in " + directory, e);
        }
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "cannot delete " + file, e);
        }
    }

    private Path place(TeamId team, String hash) {
        if (!HASH.matcher(hash).matches()) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "the hash of files must be 64 digits of 0-9 and a-f in lower case");
        }
        if (!TEAM.matcher(team.value()).matches()) {
            throw new CayException(ErrorKind.INTERNAL, "a team's id cannot name a folder");
        }
        return directory.resolve(team.value()).resolve(hash);
    }
}
