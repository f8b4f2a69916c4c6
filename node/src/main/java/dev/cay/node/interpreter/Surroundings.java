package dev.cay.node.interpreter;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/// The variables of cells. They change when a spare sandbox gets an owner.
///
/// @param sandbox its id; runners of another sandbox are copies and must not produce the same random numbers
/// @param before  names of variables that runners may still have from earlier
record Surroundings(String sandbox, Map<String, String> variables, Set<String> before) {
    Surroundings {
        variables = Map.copyOf(variables);
        before = Set.copyOf(before);
    }

    Surroundings then(Map<String, String> next) {
        var names = new TreeSet<>(before);
        names.addAll(variables.keySet());
        return new Surroundings(sandbox, next, names);
    }

    List<String> gone() {
        return before.stream()
                .filter(name -> !variables.containsKey(name))
                .sorted()
                .toList();
    }
}
