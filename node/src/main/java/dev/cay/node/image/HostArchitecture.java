package dev.cay.node.image;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;

/// The processor of this host, for which layers are built.
final class HostArchitecture {
    private HostArchitecture() {}

    /// As npm packages name it. Refuses a processor that there are no templates for.
    static String name() {
        return switch (System.getProperty("os.arch")) {
            case "amd64", "x86_64" -> "x64";
            case "aarch64", "arm64" -> "arm64";
            case String other -> throw new CayException(ErrorKind.NOT_IMPLEMENTED, "no templates for " + other);
        };
    }
}
