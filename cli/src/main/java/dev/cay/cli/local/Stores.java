package dev.cay.cli.local;

import dev.cay.config.CayConfig;
import dev.cay.server.store.Store;
import dev.cay.server.store.postgres.PostgresAddress;
import dev.cay.server.store.postgres.PostgresStore;
import dev.cay.server.store.sqlite.SqliteStore;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Opens the store that the configuration names.
public final class Stores {
    private static final Set<PosixFilePermission> READ_BY_OTHERS =
            Set.of(PosixFilePermission.GROUP_READ, PosixFilePermission.OTHERS_READ);

    private Stores() {}

    public static Store open(CayConfig config) {
        var address = address(config);
        return address.isPresent()
                ? PostgresStore.open(
                        address.get(),
                        password(config.store().passwordFile()),
                        config.store().connections())
                : SqliteStore.open(file(config));
    }

    /// The database that `store.url` names.
    public static Optional<PostgresAddress> address(CayConfig config) {
        return Optional.ofNullable(config.store().url()).map(PostgresAddress::parse);
    }

    /// The file where records are when no database is named.
    public static Path file(CayConfig config) {
        return config.stateDir().resolve("cay.db");
    }

    /// @return null when no file is named
    public static @Nullable String password(@Nullable Path file) {
        if (file == null) {
            return null;
        }
        try {
            if (Files.getPosixFilePermissions(file).stream().anyMatch(READ_BY_OTHERS::contains)) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT,
                        "others can read the password in %s; run: sudo chmod 600 %s".formatted(file, file));
            }
            String password = Files.readString(file).strip();
            if (password.isEmpty()) {
                throw new CayException(ErrorKind.INVALID_ARGUMENT, "there is no password in %s".formatted(file));
            }
            return password;
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "the password file %s cannot be read: %s".formatted(file, e.getMessage()),
                    e);
        }
    }
}
