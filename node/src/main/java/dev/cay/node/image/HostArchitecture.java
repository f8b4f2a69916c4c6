package dev.cay.node.image;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;

/// The processor of this host, for which layers are built.
final class HostArchitecture {
    private HostArchitecture() {}

    /// The processor's name in npm packages. Refuses a processor without templates.
    static String name() {
        return switch (System.getProperty("os.arch")) {
            case "amd64", "x86_64" -> "x64";
            case "aarch64", "arm64" -> "arm64";
            case String other -> throw new CayException(ErrorKind.NOT_IMPLEMENTED, "no templates for " + other);
        };
    }
}
