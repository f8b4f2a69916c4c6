package dev.cay.node.mcp.repository;

import dev.cay.life.RootOnly;
import dev.cay.life.WholeFile;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.Unused;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// Which commit of a repository was installed last, in a small file for each.
///
/// All names here and of the layers are hashes with a number that only this instance knows: instances share the
/// directory of layers, and a team of another one may have the same id.
final class KnownCommits {
    private static final String SALT = ".salt";
    private static final int SALT_BYTES = 32;

    private final Path directory;
    private final String salt;

    /// @param directory for the files; made if it is not there
    KnownCommits(Path directory) throws IOException {
        this.directory = RootOnly.directory(directory);
        var file = directory.resolve(SALT);
        if (!Files.exists(file)) {
            byte[] random = new byte[SALT_BYTES];
            new SecureRandom().nextBytes(random);
            write(file, HexFormat.of().formatHex(random));
        }
        this.salt = Files.readString(file).strip();
    }

    /// A name that no other instance gives.
    String name(Stream<String> parts) {
        return LayerStore.hash(Stream.concat(Stream.of(salt), parts).toList());
    }

    Optional<String> find(String name) {
        try {
            return Optional.of(Files.readString(directory.resolve(name)).strip());
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "what is known of a repository cannot be read", e);
        }
    }

    void note(String name, String commit) {
        try {
            write(directory.resolve(name), commit);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "what is known of a repository cannot be written", e);
        }
    }

    private static void write(Path file, String text) throws IOException {
        WholeFile.write(file, text.getBytes(StandardCharsets.UTF_8), PosixFilePermissions.fromString("rw-------"));
    }

    /// Files of repositories that were not used for a while.
    ///
    /// @param before files that were used after this moment stay
    Optional<Unused> unused(Instant before) {
        try (var files = Files.list(directory)) {
            List<Path> old = files.filter(file -> !file.endsWith(SALT))
                    .filter(file ->
                            Instant.ofEpochMilli(file.toFile().lastModified()).isBefore(before))
                    .toList();
            return Unused.files("notes of repositories", old, Files::deleteIfExists);
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "cannot look for unused files in " + directory, e);
        }
    }
}
