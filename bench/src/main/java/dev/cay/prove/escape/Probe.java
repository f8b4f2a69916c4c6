package dev.cay.prove.escape;

import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;

/// One way out, and everything that bars it.
///
/// @param name    as `cay-probe` knows it
/// @param attempt what is tried, for people
/// @param guards  all of them must be gone before it works
public record Probe(String name, String attempt, Set<Guard> guards) {
    public Probe {
        guards = Set.copyOf(guards);
    }

    static Probe of(String name, String attempt, Guard first, Guard... others) {
        return new Probe(name, attempt, EnumSet.of(first, others));
    }

    /// Whether it needs a network to be tried in.
    boolean inLab() {
        return guards.contains(Guard.FIREWALL);
    }

    /// What stops it, in one line.
    public String protection() {
        return guards.stream().sorted().map(Guard::words).collect(Collectors.joining(", "));
    }
}
