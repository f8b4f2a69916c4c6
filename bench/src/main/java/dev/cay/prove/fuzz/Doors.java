package dev.cay.prove.fuzz;

/// The ways into one daemon.
record Doors(int port, int tlsPort) {
    Door plain() {
        return Door.plain(port);
    }

    Door secure(String protocol) {
        return new Door(tlsPort, protocol);
    }

    Door mostlyPlain(Dice dice) {
        return dice.oneIn(30) ? secure("http/1.1") : plain();
    }

    /// Where TLS is expected, without it.
    Door plainToSecure() {
        return Door.plain(tlsPort);
    }
}
