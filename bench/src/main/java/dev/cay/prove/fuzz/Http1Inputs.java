package dev.cay.prove.fuzz;

import java.util.function.Function;

/// Inputs that are one request of HTTP/1.1 each.
record Http1Inputs(Function<Dice, DaemonPort> door, Requests requests) implements RequestTarget.Inputs {
    /// Makes requests, each from nothing but dice and the sandbox's name.
    interface Requests {
        byte[] next(Dice dice, FuzzedSandbox.Name name);
    }

    /// The door first, as a seed must give the same input again.
    @Override
    public Input next(Dice dice, FuzzedSandbox.Name name) {
        var door = this.door.apply(dice);
        return Input.of(dice, door, requests.next(dice, name), Input.Speech.HTTP1);
    }
}
