package dev.cay.prove.fuzz;

import java.io.IOException;

/// Requests of one kind, thrown at one sandbox through the daemon's own doors.
final class RequestTarget implements Target {
    /// Makes inputs, each from nothing but dice and the sandbox's name.
    interface Inputs {
        Input next(Dice dice, FuzzedSandbox.Name name);
    }

    private final Wire wire = new Wire();
    private final String name;
    private final Inputs inputs;
    private final FuzzedSandbox prey;

    RequestTarget(String name, Inputs inputs, FuzzedSandbox prey) {
        this.name = name;
        this.inputs = inputs;
        this.prey = prey;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Played play(long seed) throws IOException {
        var input = inputs.next(new Dice(seed), prey.name());
        return wire.send(input).judge(input);
    }

    @Override
    public String tidy() throws IOException, InterruptedException {
        return prey.tidy();
    }

    @Override
    public String settle() throws IOException, InterruptedException {
        return prey.settle();
    }

    @Override
    public void close() throws IOException {
        wire.close();
        prey.close();
    }
}
