package dev.cay.dockerfile;

import org.jspecify.annotations.Nullable;

/// Expands variables in words by Docker's rules and removes quotes and escapes.
///
/// An instance has a budget for all its calls, so that a small file cannot expand to gigabytes or to minutes of
/// pattern matching. It is not safe for several threads.
final class Expansion {
    private static final int DEEPEST = 64;
    private static final long BUDGET = 50_000_000;
    private static final int LONGEST_PATTERN = 1024;
    private static final String SPECIAL = "@*#?-$!0";

    /// The longest string that Linux passes to a program is 131,072 bytes.
    static final int LONGEST_VALUE = 131_071;

    private static final int LONGEST_CONTENT = 1 << 20;

    /// The values that a word sees.
    interface Variables {
        @Nullable
        String value(String name);
    }

    /// A word that cannot be expanded, with the reason.
    static final class Failure extends Exception {
        private static final long serialVersionUID = 1;
        private final int offset;
        private final String what;
        private final String fix;

        Failure(int offset, String what, String fix) {
            super(what);
            this.offset = offset;
            this.what = what;
            this.fix = fix;
        }

        /// The offset of the error in the word.
        int offset() {
            return offset;
        }

        String what() {
            return what;
        }

        String fix() {
            return fix;
        }
    }

    private final char escape;
    private long budget = BUDGET;

    Expansion(char escape) {
        this.escape = escape;
    }

    String word(String word, Variables variables) throws Failure {
        return new Pass(word, variables, true, LONGEST_VALUE).all();
    }

    /// The content of a heredoc, where quotes are ordinary characters.
    String content(String text, Variables variables) throws Failure {
        return new Pass(text, variables, false, LONGEST_CONTENT).all();
    }

    /// Fails if the word cannot be expanded, whatever the values of its variables are.
    static void check(String word, char escape) throws Failure {
        if (word.indexOf('$') >= 0 || word.indexOf('"') >= 0 || word.indexOf('\'') >= 0) {
            new Expansion(escape).new Pass(word, _ -> "x", true, LONGEST_CONTENT).all();
        }
    }

    private void spend(long units) throws Failure {
        budget -= units;
        if (budget < 0) {
            throw new Failure(0, "the variables of this file expand to too much", "use shorter values and patterns");
        }
    }

    /// Reads one word from start to end.
    private final class Pass {
        private final String word;
        private final Variables variables;
        private final boolean quotes;
        private final int longest;
        private int at;
        private int depth;

        Pass(String word, Variables variables, boolean quotes, int longest) {
            this.word = word;
            this.variables = variables;
            this.quotes = quotes;
            this.longest = longest;
        }

        String all() throws Failure {
            return until('\0', false);
        }

        /// @param stop       the character that ends this part and is skipped; NUL for the end of the word
        /// @param rawEscapes whether escape characters stay, as in patterns
        private String until(char stop, boolean rawEscapes) throws Failure {
            var result = new StringBuilder();
            while (at < word.length()) {
                char c = word.charAt(at);
                if (stop != '\0' && c == stop) {
                    at++;
                    return result.toString();
                }
                if (c == '$') {
                    append(result, dollar());
                } else if (quotes && c == '\'') {
                    append(result, singleQuoted());
                } else if (quotes && c == '"') {
                    append(result, doubleQuoted(rawEscapes));
                } else if (c == escape) {
                    append(result, escaped(rawEscapes));
                } else {
                    at++;
                    result.append(c);
                }
            }
            if (stop != '\0') {
                throw new Failure(word.length(), "${ without its %s".formatted(stop), "close the expression with }");
            }
            append(result, "");
            return result.toString();
        }

        private void append(StringBuilder result, String text) throws Failure {
            if (result.length() + text.length() > longest) {
                throw new Failure(
                        0, "a value expands to more than %,d characters".formatted(longest), "use shorter values");
            }
            spend(text.length() + 1L);
            result.append(text);
        }

        private String escaped(boolean raw) {
            int start = at;
            at = Math.min(at + 2, word.length());
            return word.substring(raw ? start : Math.min(start + 1, at), at);
        }

        private String singleQuoted() throws Failure {
            int start = at + 1;
            int end = word.indexOf('\'', start);
            if (end < 0) {
                throw new Failure(at, "a single quote is not closed", "add the closing quote");
            }
            at = end + 1;
            return word.substring(start, end);
        }

        private String doubleQuoted(boolean rawEscapes) throws Failure {
            int start = at++;
            var result = new StringBuilder();
            while (at < word.length()) {
                char c = word.charAt(at);
                if (c == '"') {
                    at++;
                    return result.toString();
                }
                if (c == '$') {
                    append(result, dollar());
                    continue;
                }
                boolean escapes = c == escape
                        && at + 1 < word.length()
                        && (word.charAt(at + 1) == '"' || word.charAt(at + 1) == '$' || word.charAt(at + 1) == escape);
                if (escapes) {
                    append(result, escaped(rawEscapes));
                } else {
                    result.append(c);
                    at++;
                }
            }
            throw new Failure(start, "a double quote is not closed", "add the closing quote");
        }

        private String dollar() throws Failure {
            int start = at++;
            if (at >= word.length() || word.charAt(at) != '{') {
                String name = name();
                return name.isEmpty() ? "$" : valueOrEmpty(name);
            }
            at++;
            if (++depth > DEEPEST) {
                throw new Failure(
                        start, "${…} is nested more than %d times".formatted(DEEPEST), "use an ARG in between");
            }
            String name = name();
            if (name.isEmpty() || at >= word.length()) {
                throw new Failure(start, name.isEmpty() ? "${ without a name" : "${ without its }", "write ${NAME}");
            }
            String result = modified(name, start);
            depth--;
            return result;
        }

        private String modified(String name, int start) throws Failure {
            char operator = word.charAt(at++);
            boolean emptyIsUnset = operator == ':';
            if (emptyIsUnset && at < word.length()) {
                operator = word.charAt(at++);
            }
            String value = variables.value(name);
            boolean unset = value == null || (emptyIsUnset && value.isEmpty());
            if (emptyIsUnset && "-+?".indexOf(operator) < 0) {
                throw unknownOperator(start);
            }
            return switch (operator) {
                case '}' -> valueOrEmpty(name);
                case '-' -> {
                    String other = until('}', false);
                    yield unset || value == null ? other : value;
                }
                case '+' -> {
                    String other = until('}', false);
                    yield unset ? "" : other;
                }
                case '?' -> required(name, value, unset, start);
                case '#', '%' -> trimmed(operator, value == null ? "" : value, start);
                case '/' -> replaced(value == null ? "" : value, start);
                default -> throw unknownOperator(start);
            };
        }

        private Failure unknownOperator(int start) {
            return new Failure(
                    start,
                    "%s is not an expression that Docker knows"
                            .formatted(Excerpt.of(word.substring(start, Math.min(at, word.length())))),
                    "use ${NAME}, or one of the operators :- - :+ + :? ? # ## % %% / //");
        }

        private String required(String name, @Nullable String value, boolean unset, int start) throws Failure {
            String message = until('}', false);
            if (unset || value == null) {
                String reason = message.isEmpty() ? (value == null ? "is not set" : "is empty") : message;
                throw new Failure(
                        start,
                        "%s: %s".formatted(name, Excerpt.of(reason)),
                        "set it with ARG, ENV or a build argument");
            }
            return value;
        }

        private String trimmed(char operator, String value, int start) throws Failure {
            String pattern = until('}', true);
            boolean longestMatch = !pattern.isEmpty() && pattern.charAt(0) == operator;
            var glob = pattern(longestMatch ? pattern.substring(1) : pattern, value, start);
            if (operator == '#') {
                int length = glob.prefix(value, longestMatch);
                return length < 0 ? value : value.substring(length);
            }
            int length = glob.suffix(value, longestMatch);
            return length < 0 ? value : value.substring(0, value.length() - length);
        }

        private String replaced(String value, int start) throws Failure {
            boolean everywhere = at < word.length() && word.charAt(at) == '/';
            at += everywhere ? 1 : 0;
            var glob = pattern(until('/', true), value, start);
            String replacement = until('}', true);
            var result = new StringBuilder();
            int copied = 0;
            for (var match : glob.find(value, everywhere)) {
                append(result, value.substring(copied, match.start()));
                append(result, replacement);
                copied = match.end();
            }
            append(result, value.substring(copied));
            return result.toString();
        }

        private Glob pattern(String pattern, String value, int start) throws Failure {
            if (pattern.length() > LONGEST_PATTERN) {
                throw new Failure(start, "the pattern has more than 1,024 characters", "use a shorter pattern");
            }
            spend((long) (pattern.length() + 1) * (value.length() + 1));
            try {
                return Glob.shell(pattern);
            } catch (Glob.BadPattern e) {
                throw new Failure(
                        start, "the pattern %s %s".formatted(Excerpt.of(pattern), e.why()), "correct the pattern");
            }
        }

        private String valueOrEmpty(String name) {
            String value = variables.value(name);
            return value == null ? "" : value;
        }

        /// Letters, digits and `_`; or digits only; or one of the shell's special parameters.
        private String name() {
            int start = at;
            if (at < word.length() && SPECIAL.indexOf(word.charAt(at)) >= 0 && word.charAt(at) != '0') {
                return word.substring(start, ++at);
            }
            boolean digits = at < word.length() && Character.isDigit(word.charAt(at));
            while (at < word.length() && isNamePart(word.charAt(at), digits)) {
                at++;
            }
            return word.substring(start, at);
        }

        private static boolean isNamePart(char c, boolean digits) {
            return Character.isDigit(c) || (!digits && (Character.isLetter(c) || c == '_'));
        }
    }
}
