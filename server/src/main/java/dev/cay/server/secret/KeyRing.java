package dev.cay.server.secret;

import dev.cay.http.Json;
import dev.cay.life.WholeFile;
import dev.cay.server.store.JsonColumn;
import dev.cay.server.store.SealedColumn;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/// The keys that seal values of secrets, in a file beside the database. New values are sealed with the newest. Older
/// ones stay until the next rotation, so that a backup of any moment opens. Thread-safe.
final class KeyRing {
    private static final int KEY_BYTES = 32;
    private static final int NAME_BYTES = 6;

    /// The content of the file: the newest key is the last.
    private record Content(List<Key> keys) {}

    private record Key(String name, String key) {}

    private final Path file;
    private final SecureRandom random;
    private List<Key> keys;

    private KeyRing(Path file, SecureRandom random, List<Key> keys) {
        this.file = file;
        this.random = random;
        this.keys = keys;
    }

    /// Reads the file, or makes it with one key, readable for its owner only.
    static KeyRing open(Path file, SecureRandom random) {
        try {
            if (!Files.exists(file)) {
                var fresh = new KeyRing(file, random, List.of());
                fresh.write(List.of(fresh.fresh()));
                return fresh;
            }
            var keys = JsonColumn.read(Files.readString(file), Content.class).keys();
            if (keys.isEmpty() || keys.stream().anyMatch(key -> key.key().length() != 2 * KEY_BYTES)) {
                throw new CayException(
                        ErrorKind.INTERNAL,
                        "%s does not hold keys of %d bytes; restore it from a backup".formatted(file, KEY_BYTES));
            }
            return new KeyRing(file, random, List.copyOf(keys));
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "the keys of secrets in %s cannot be read".formatted(file), e);
        }
    }

    /// The name of the key that new values are sealed with.
    synchronized String newest() {
        return keys.getLast().name();
    }

    /// @param key the name of the key that opens it
    record Sealed(String key, String text) {}

    /// Seals with the newest key.
    synchronized Sealed seal(String row, String text) {
        return new Sealed(newest(), column(keys.getLast()).seal(row, text));
    }

    /// The cipher of a key; empty for a key that was deleted.
    synchronized Optional<SealedColumn> column(String name) {
        return keys.stream().filter(key -> key.name().equals(name)).findFirst().map(this::column);
    }

    private SealedColumn column(Key key) {
        return new SealedColumn(HexFormat.of().parseHex(key.key()), random);
    }

    /// Adds a key, which seals from now on. It is on the disk before anything is sealed with it.
    synchronized void add() {
        var more = new ArrayList<>(keys);
        more.add(fresh());
        write(more);
    }

    /// Forgets all but the newest key and the one before it.
    synchronized void forgetOld() {
        if (keys.size() > 2) {
            write(keys.subList(keys.size() - 2, keys.size()));
        }
    }

    private Key fresh() {
        byte[] name = new byte[NAME_BYTES];
        byte[] key = new byte[KEY_BYTES];
        random.nextBytes(name);
        random.nextBytes(key);
        return new Key(HexFormat.of().formatHex(name), HexFormat.of().formatHex(key));
    }

    private void write(List<Key> next) {
        try {
            WholeFile.writeDurably(file, Json.write(new Content(next)));
            keys = List.copyOf(next);
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.INTERNAL, "the keys of secrets cannot be written to %s".formatted(file), e);
        }
    }
}
