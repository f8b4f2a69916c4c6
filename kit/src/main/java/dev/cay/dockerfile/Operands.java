package dev.cay.dockerfile;

import dev.cay.config.Suggestion;
import dev.cay.dockerfile.Words.Word;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// An instruction split into its name, its flags and the rest, which each kind of instruction reads in its own way.
final class Operands {
    private final LogicalLine line;
    private final char escape;
    private final Word name;
    private final Map<String, List<Flag>> flags = new LinkedHashMap<>();
    private int start;

    /// @param value null for a flag without `=`
    record Flag(String name, @Nullable String value, int offset) {
        String text() {
            return value == null ? "" : value;
        }
    }

    Operands(LogicalLine line, char escape) {
        this.line = line;
        this.escape = escape;
        String text = line.text();
        int end = 0;
        while (end < text.length() && !Character.isWhitespace(text.charAt(end))) {
            end++;
        }
        this.name = new Word(text.substring(0, end).toUpperCase(Locale.ROOT), 0);
        this.start = Words.skipSpaces(text, end);
        readFlags();
    }

    private void readFlags() {
        String text = line.text();
        while (text.startsWith("--", start)) {
            int end = Words.endOfWord(text, start, escape);
            String word = Words.unquote(text.substring(start, end), escape);
            if (word.equals("--")) {
                start = Words.skipSpaces(text, end);
                return;
            }
            int equals = word.indexOf('=');
            var flag = new Flag(
                    word.substring(2, equals < 0 ? word.length() : equals),
                    equals < 0 ? null : word.substring(equals + 1),
                    start);
            flags.computeIfAbsent(flag.name(), _ -> new ArrayList<>()).add(flag);
            start = Words.skipSpaces(text, end);
        }
    }

    String name() {
        return name.text();
    }

    char escape() {
        return escape;
    }

    Position at() {
        return line.at(0);
    }

    Position at(int offset) {
        return line.at(offset);
    }

    /// The text after the flags, without spaces at its end.
    String text() {
        return line.text().substring(start).stripTrailing();
    }

    int start() {
        return start;
    }

    List<LogicalLine.Heredoc> heredocs() {
        return line.heredocs();
    }

    List<Word> words() {
        return Words.plain(line.text(), start);
    }

    List<Word> quotedWords() {
        return Words.quoted(line.text(), start, escape);
    }

    Optional<List<String>> json() {
        return json(start);
    }

    Optional<List<String>> json(int from) {
        try {
            var strings = JsonStrings.read(line.text(), from);
            if (strings.stream().flatMap(List::stream).anyMatch(string -> string.indexOf('\0') >= 0)) {
                throw problem(from, "the JSON array has a NUL character", "remove it");
            }
            return strings;
        } catch (JsonStrings.NotAString e) {
            throw problem(e.offset(), "the JSON array has an element that is no string", "put it into double quotes");
        }
    }

    /// Refuses flags that the instruction does not have, and flags that are given twice.
    ///
    /// @param repeatable flags that may be given several times
    void allow(Set<String> once, Set<String> repeatable) {
        for (var given : flags.values()) {
            var flag = given.getFirst();
            if (!once.contains(flag.name()) && !repeatable.contains(flag.name())) {
                throw unknown(flag, once, repeatable);
            }
            if (given.size() > 1 && !repeatable.contains(flag.name())) {
                throw problem(given.get(1).offset(), "--%s is given twice".formatted(flag.name()), "keep one");
            }
        }
    }

    private DockerfileException unknown(Flag flag, Set<String> once, Set<String> repeatable) {
        var known = new ArrayList<>(once);
        known.addAll(repeatable);
        known.sort(null);
        String fix = Suggestion.of(Excerpt.of(flag.name()), known)
                .map(near -> "did you mean --" + near + "?")
                .orElse(known.isEmpty() ? "it has no flags" : "it has --" + String.join(", --", known));
        return problem(flag.offset(), "%s has no flag --%s".formatted(name(), Excerpt.of(flag.name())), fix);
    }

    List<Flag> flags(String flag) {
        return flags.getOrDefault(flag, List.of());
    }

    /// The flag's value; null when it is not given.
    @Nullable
    String value(String flag) {
        var given = flags(flag);
        if (given.isEmpty()) {
            return null;
        }
        String value = given.getFirst().value();
        if (value == null || value.isEmpty()) {
            throw problem(
                    given.getFirst().offset(), "--%s has no value".formatted(flag), "write --%s=VALUE".formatted(flag));
        }
        return value;
    }

    /// The value of a flag that is true or false; null when it is not given. `--link` without a value means true.
    @Nullable
    Boolean truth(String flag) {
        var given = flags(flag);
        if (given.isEmpty()) {
            return null;
        }
        String value = given.getFirst().value();
        return switch (value == null ? "true" : value.toLowerCase(Locale.ROOT)) {
            case "true", "1", "t" -> true;
            case "false", "0", "f" -> false;
            default ->
                throw problem(
                        given.getFirst().offset(),
                        "--%s is neither true nor false".formatted(flag),
                        "write --%s or leave it out".formatted(flag));
        };
    }

    int offsetOf(String flag) {
        var given = flags(flag);
        return given.isEmpty() ? 0 : given.getFirst().offset();
    }

    /// The syntax of variables in a word of this line. Values do not matter for it, so errors are found before a build.
    void checkVariables(Word word) {
        checkVariables(word.text(), word.offset());
    }

    /// @param offset of the text in the line
    void checkVariables(String text, int offset) {
        try {
            Expansion.check(text, escape);
        } catch (Expansion.Failure e) {
            throw problem(offset + Math.min(e.offset(), text.length()), e.what(), e.fix());
        }
    }

    DockerfileException problem(int offset, String what, String fix) {
        return line.problem(offset, what, fix);
    }
}
