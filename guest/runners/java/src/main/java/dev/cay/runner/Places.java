package dev.cay.runner;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Where in which cell a snippet began: JShell counts lines in snippets, people count them in cells.
final class Places {
    record Place(int cell, int line) {
        Place plus(int lines) {
            return new Place(cell, line + lines);
        }

        @Override
        public String toString() {
            return "cell %d, line %d".formatted(cell, line);
        }
    }

    private final Map<String, Place> bySnippet = new HashMap<>();

    void put(String snippet, Place place) {
        bySnippet.put(snippet, place);
    }

    @Nullable
    Place find(String snippet) {
        return bySnippet.get(snippet);
    }

    static int lineOf(String text, int offset) {
        return 1
                + (int) text.substring(0, Math.min(offset, text.length()))
                        .chars()
                        .filter(c -> c == '\n')
                        .count();
    }
}
