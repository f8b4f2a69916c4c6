package dev.cay.dockerfile;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// A pattern of one of the three kinds that Docker has. Matching takes time proportional to pattern times text and
/// does not recurse, unlike a regular expression.
public final class Glob {
    /// Why a pattern is no pattern, as the end of a sentence.
    public static final class BadPattern extends Exception {
        private static final long serialVersionUID = 1;
        private final String why;

        BadPattern(String why) {
            super(why);
            this.why = why;
        }

        public String why() {
            return why;
        }
    }

    /// A match in a text, in UTF-16 units.
    record Match(int start, int end) {}

    /// One element of a pattern.
    private sealed interface Token {
        /// Matches this character.
        record Literal(int character) implements Token {}

        /// Matches one character; in paths any but `/`.
        record One(boolean slash) implements Token {}

        /// Matches any number of characters; in paths without `/`.
        record Many(boolean slash) implements Token {}

        /// Matches one character that is in, or not in, one of the ranges; never `/`.
        record OneOf(boolean negated, List<Integer> bounds) implements Token {}

        /// The next token may be left out.
        record Optional() implements Token {}

        /// Matches any number of characters that end with `/`.
        record Directories() implements Token {}
    }

    private final List<Token> tokens;

    private Glob(List<Token> tokens) {
        this.tokens = List.copyOf(tokens);
    }

    /// A pattern of `${NAME#pattern}`: `*` and `?` match every character.
    static Glob shell(String pattern) throws BadPattern {
        var tokens = new ArrayList<Token>();
        int[] text = pattern.codePoints().toArray();
        for (int i = 0; i < text.length; i++) {
            switch (text[i]) {
                case '*' -> tokens.add(new Token.Many(true));
                case '?' -> tokens.add(new Token.One(true));
                case '\\' -> {
                    i++;
                    if (i == text.length || "*?\\}/".indexOf(text[i]) < 0) {
                        throw new BadPattern("has a backslash before something other than * ? \\ } /");
                    }
                    tokens.add(new Token.Literal(text[i]));
                }
                default -> tokens.add(new Token.Literal(text[i]));
            }
        }
        return new Glob(tokens);
    }

    /// A pattern of Go's `filepath.Match`.
    public static Glob path(String pattern) throws BadPattern {
        return paths(pattern, false);
    }

    /// A pattern of `.dockerignore`: as of a path, and `**` for any number of directories.
    static Glob ignore(String pattern) throws BadPattern {
        return paths(pattern, true);
    }

    private static Glob paths(String pattern, boolean deep) throws BadPattern {
        var tokens = new ArrayList<Token>();
        int[] text = pattern.codePoints().toArray();
        int i = 0;
        while (i < text.length) {
            boolean twoStars = deep && text[i] == '*' && i + 1 < text.length && text[i + 1] == '*';
            if (twoStars) {
                i = deep(pattern, text, i, tokens);
                continue;
            }
            switch (text[i]) {
                case '*' -> tokens.add(new Token.Many(false));
                case '?' -> tokens.add(new Token.One(false));
                case '[' -> i = characterClass(text, i + 1, tokens);
                case '\\' -> {
                    i++;
                    if (i == text.length) {
                        throw new BadPattern("ends with a backslash");
                    }
                    tokens.add(new Token.Literal(text[i]));
                }
                default -> tokens.add(new Token.Literal(text[i]));
            }
            i++;
        }
        return new Glob(tokens);
    }

    /// `**` and a `/` behind it. At the end it matches everything. At the begin, before plain text without a `/`
    /// between them, it matches everything that ends with the text.
    private static int deep(String pattern, int[] text, int at, List<Token> tokens) {
        int next = at + 2;
        boolean slash = next < text.length && text[next] == '/';
        next += slash ? 1 : 0;
        boolean suffix = at == 0 && !slash && pattern.substring(2).chars().noneMatch(c -> "*?[]\\".indexOf(c) >= 0);
        if (next == text.length || suffix) {
            tokens.add(new Token.Many(true));
        } else {
            tokens.add(new Token.Optional());
            tokens.add(new Token.Directories());
        }
        return next;
    }

    /// @return the offset of the closing bracket
    private static int characterClass(int[] text, int start, List<Token> tokens) throws BadPattern {
        boolean negated = start < text.length && text[start] == '^';
        int i = negated ? start + 1 : start;
        var bounds = new ArrayList<Integer>();
        while (i < text.length && (text[i] != ']' || bounds.isEmpty())) {
            i = member(text, i, bounds);
            int high = bounds.getLast();
            if (i < text.length && text[i] == '-') {
                i = member(text, i + 1, bounds);
            } else {
                bounds.add(high);
            }
        }
        if (i >= text.length) {
            throw new BadPattern("has [ without ]");
        }
        tokens.add(new Token.OneOf(negated, List.copyOf(bounds)));
        return i;
    }

    private static int member(int[] text, int at, List<Integer> bounds) throws BadPattern {
        boolean escaped = at < text.length && text[at] == '\\';
        int i = escaped ? at + 1 : at;
        if (i >= text.length || (!escaped && (text[i] == '-' || text[i] == ']'))) {
            throw new BadPattern("has [ without a valid range");
        }
        bounds.add(text[i]);
        return i + 1;
    }

    public boolean matches(String text) {
        return matches(text, false);
    }

    /// Whether the pattern matches the path or a directory above it.
    boolean matchesItOrAParent(String path) {
        return matches(path, true);
    }

    private boolean matches(String text, boolean parents) {
        var run = new Run(tokens, false);
        for (int i = 0; i < text.length(); ) {
            int c = text.codePointAt(i);
            if (parents && c == '/' && run.accepts()) {
                return true;
            }
            if (!run.step(c)) {
                return false;
            }
            i += Character.charCount(c);
        }
        return run.accepts();
    }

    /// The length of the shortest or longest begin of the text that matches; -1 when none does.
    int prefix(String text, boolean longest) {
        return prefix(tokens, text, 0, longest);
    }

    /// The length of the shortest or longest end of the text that matches; -1 when none does.
    int suffix(String text, boolean longest) {
        return prefix(tokens.reversed(), reversed(text), 0, longest);
    }

    private static int prefix(List<Token> tokens, String text, int from, boolean longest) {
        var run = new Run(tokens, false);
        int found = run.accepts() ? 0 : -1;
        for (int i = from; i < text.length() && (longest || found < 0); ) {
            int c = text.codePointAt(i);
            if (!run.step(c)) {
                break;
            }
            i += Character.charCount(c);
            found = run.accepts() ? i - from : found;
        }
        return found;
    }

    /// The first match from the left, each as long as possible; or all that do not overlap.
    List<Match> find(String text, boolean all) {
        boolean[] starts = starts(text);
        var matches = new ArrayList<Match>();
        int lastEnd = -1;
        int i = 0;
        while (i <= text.length() && (all || matches.isEmpty())) {
            int length = starts[i] ? prefix(tokens, text, i, true) : -1;
            if (length > 0 || (length == 0 && i != lastEnd)) {
                matches.add(new Match(i, i + length));
                lastEnd = i + length;
            }
            i += length > 0 ? length : i < text.length() ? Character.charCount(text.codePointAt(i)) : 1;
        }
        return matches;
    }

    /// Finds all places where a match begins: the reversed pattern, tried at all places at once, ends there in the
    /// reversed text.
    private boolean[] starts(String text) {
        var starts = new boolean[text.length() + 1];
        var run = new Run(tokens.reversed(), true);
        starts[text.length()] = run.accepts();
        for (int i = text.length(); i > 0; ) {
            int c = text.codePointBefore(i);
            run.step(c);
            i -= Character.charCount(c);
            starts[i] = run.accepts();
        }
        return starts;
    }

    private static String reversed(String text) {
        return new StringBuilder(text).reverse().toString();
    }

    /// All places of the pattern that the text read so far may have reached.
    private static final class Run {
        private final List<Token> tokens;
        private final boolean everywhere;
        private boolean[] reached;
        private boolean[] next;

        /// @param everywhere whether a match may begin at each character
        Run(List<Token> tokens, boolean everywhere) {
            this.tokens = tokens;
            this.everywhere = everywhere;
            this.reached = new boolean[tokens.size() + 1];
            this.next = new boolean[tokens.size() + 1];
            reached[0] = true;
            skip(reached);
        }

        boolean accepts() {
            return reached[tokens.size()];
        }

        /// @return whether a match is still possible
        boolean step(int c) {
            Arrays.fill(next, false);
            next[0] = everywhere;
            boolean alive = everywhere;
            for (int i = 0; i < tokens.size(); i++) {
                if (reached[i]) {
                    move(i, c);
                    alive |= next[i] || next[i + 1];
                }
            }
            skip(next);
            var old = reached;
            reached = next;
            next = old;
            return alive;
        }

        private void move(int i, int c) {
            switch (tokens.get(i)) {
                case Token.Literal(int character) -> next[i + 1] |= character == c;
                case Token.One(boolean slash) -> next[i + 1] |= slash || c != '/';
                case Token.Many(boolean slash) -> next[i] |= slash || c != '/';
                case Token.OneOf(boolean negated, var bounds) ->
                    next[i + 1] |= c != '/' && isWithin(c, bounds) != negated;
                case Token.Optional() -> {}
                case Token.Directories() -> {
                    next[i] = true;
                    next[i + 1] |= c == '/';
                }
            }
        }

        private void skip(boolean[] places) {
            for (int i = 0; i < tokens.size(); i++) {
                if (places[i] && tokens.get(i) instanceof Token.Many) {
                    places[i + 1] = true;
                } else if (places[i] && tokens.get(i) instanceof Token.Optional) {
                    places[i + 1] = true;
                    places[i + 2] = true;
                }
            }
        }

        private static boolean isWithin(int c, List<Integer> bounds) {
            for (int i = 0; i < bounds.size(); i += 2) {
                if (c >= bounds.get(i) && c <= bounds.get(i + 1)) {
                    return true;
                }
            }
            return false;
        }
    }
}
