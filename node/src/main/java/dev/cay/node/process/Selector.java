package dev.cay.node.process;

/// Names a process.
public sealed interface Selector {
    record Pid(int pid) implements Selector {}

    record Tag(String tag) implements Selector {}
}
