package dev.cay.prove.fuzz;

/// The ways into one daemon.
record DaemonPorts(int port, int tlsPort) {
    DaemonPort plain() {
        return DaemonPort.plain(port);
    }

    DaemonPort secure(String protocol) {
        return new DaemonPort(tlsPort, protocol);
    }

    DaemonPort mostlyPlain(Dice dice) {
        return dice.oneIn(30) ? secure("http/1.1") : plain();
    }

    /// Where TLS is expected, without it.
    DaemonPort plainToSecure() {
        return DaemonPort.plain(tlsPort);
    }
}
