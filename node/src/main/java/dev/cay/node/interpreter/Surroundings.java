package dev.cay.node.interpreter;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/// What cells find around them: the sandbox's variables. There are new ones when the sandbox is given to somebody.
///
/// @param sandbox   whose they are; another one's runners are copies and must not draw the same random numbers
/// @param before    names of variables that runners may still have from earlier ones
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
