package dev.cay.node.mcp;

import dev.cay.life.WholeFile;
import dev.cay.node.mcp.seal.Seal;
import dev.cay.wire.AccessToken;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The file with the settings of a sandbox's gateway, sealed because they contain credentials.
///
/// @param seal closes and opens it
record SettingsFile(Seal seal) {
    private static final String NAME = "mcp.sealed";

    /// @return the content of the file
    byte[] write(Path folder, GatewaySettings settings) {
        byte[] sealed = seal.close(settings.bytes());
        try {
            WholeFile.write(folder.resolve(NAME), sealed, PosixFilePermissions.fromString("rw-------"));
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "the gateway's settings cannot be kept", e);
        }
        return sealed;
    }

    /// @throws NoSuchFileException if the sandbox has no gateway
    byte[] read(Path folder) throws IOException {
        return Files.readAllBytes(folder.resolve(NAME));
    }

    /// The settings; empty if they were sealed with another key.
    Optional<GatewaySettings> open(byte[] sealed) {
        return seal.open(sealed).map(GatewaySettings::of);
    }

    /// Whether this is the content of the file.
    boolean has(Path folder, byte[] sealed) {
        try {
            return Arrays.equals(sealed, read(folder));
        } catch (IOException e) {
            return false;
        }
    }

    /// Refuses a caller who knows neither of these as the token in the settings. Settings without a token, and those
    /// that are not there, refuse nobody.
    void requireToken(Path folder, @Nullable String shown, @Nullable String given) {
        Optional<GatewaySettings> there;
        try {
            there = open(read(folder));
        } catch (NoSuchFileException e) {
            return;
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "the gateway's settings cannot be read", e);
        }
        var token = there.map(GatewaySettings::token).map(AccessToken::new).orElse(null);
        if (token != null && !token.matches(shown) && !token.matches(given)) {
            throw new CayException(
                    ErrorKind.UNAUTHENTICATED,
                    "this sandbox has an MCP gateway, and only who knows its token can change it; run mcp-gateway as"
                            + " root, or give that token in GATEWAY_ACCESS_TOKEN");
        }
    }
}
