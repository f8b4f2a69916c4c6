package dev.cay.prove.escape;

import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;

/// One escape attempt, and all guards that stop it.
///
/// @param name    as `cay-probe` knows it
/// @param attempt its description, for people
/// @param guards  it works only when all of them are removed
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

    /// The guards, in one line.
    public String protection() {
        return guards.stream().sorted().map(Guard::words).collect(Collectors.joining(", "));
    }
}
