package dev.cay.node.interpreter;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/// The languages of one sandbox.
///
/// @param programs  the path of each runner's program
/// @param fromStart whether a new sandbox has contexts from the start; otherwise the first cell of a language starts
///                  its runner
public record Languages(Map<Language, String> programs, boolean fromStart) {
    private static final int LONGEST_PATH = 1024;

    public Languages {
        programs = Map.copyOf(programs);
    }

    /// Reads a list of languages, one a line, each with the path of its program behind it unless that is the usual
    /// one. Root in the sandbox may have written anything there, so lines that make no sense are left out.
    public static Languages read(String list, boolean fromStart) {
        var programs = new EnumMap<Language, String>(Language.class);
        for (String line : list.lines().toList()) {
            String[] words = line.strip().split(" ", 2);
            if (words[0].isEmpty()) {
                continue;
            }
            Language.named(words[0]).ifPresent(language -> {
                String program = words.length == 1 ? language.program() : words[1].strip();
                if (program.startsWith("/") && program.length() <= LONGEST_PATH && program.indexOf('\0') < 0) {
                    programs.put(language, program);
                }
            });
        }
        return new Languages(programs, fromStart);
    }

    public boolean isEmpty() {
        return programs.isEmpty();
    }

    boolean has(Language language) {
        return programs.containsKey(language);
    }

    String program(Language language) {
        return programs.getOrDefault(language, language.program());
    }

    /// The languages of which a new sandbox has a context from the start.
    Set<Language> eager() {
        var eager = EnumSet.noneOf(Language.class);
        if (fromStart) {
            programs.keySet().stream().filter(Language::isEager).forEach(eager::add);
        }
        return eager;
    }

    /// The names, for messages.
    String names() {
        return programs.keySet().stream().map(Language::label).sorted().collect(Collectors.joining(", "));
    }
}
