package dev.cay.dockerfile;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Reads a JSON array of strings, the exec form of an instruction. Anything else is shell form to Docker, so a text
/// that is not such an array is no error here.
final class JsonStrings {
    /// A valid array with an element that is no string. Docker refuses it rather than to run it by a shell.
    static final class NotAString extends Exception {
        private static final long serialVersionUID = 1;
        private final int offset;

        private NotAString(int offset) {
            super("not a string");
            this.offset = offset;
        }

        int offset() {
            return offset;
        }
    }

    /// Thrown where the text stops to be JSON.
    private static final class NotJson extends Exception {
        private static final long serialVersionUID = 1;
    }

    private final String text;
    private int at;
    private int other = -1;

    private JsonStrings(String text, int from) {
        this.text = text;
        this.at = from;
    }

    /// @return empty when the text from this offset on is not a JSON array of scalars
    static Optional<List<String>> read(String text, int from) throws NotAString {
        var reader = new JsonStrings(text, from);
        try {
            var strings = reader.array();
            if (reader.other >= 0) {
                throw new NotAString(reader.other);
            }
            return Optional.of(strings);
        } catch (NotJson _) {
            return Optional.empty();
        }
    }

    private List<String> array() throws NotJson {
        var strings = new ArrayList<String>();
        expect('[');
        if (peek() == ']') {
            at++;
        } else {
            do {
                element(strings);
            } while (next() == ',');
            if (text.charAt(at - 1) != ']') {
                throw new NotJson();
            }
        }
        if (Words.skipSpaces(text, at) != text.length()) {
            throw new NotJson();
        }
        return strings;
    }

    private void element(List<String> strings) throws NotJson {
        if (peek() == '"') {
            at++;
            strings.add(string());
            return;
        }
        int start = at;
        while (at < text.length()
                && (Character.isLetterOrDigit(text.charAt(at)) || "+-.".indexOf(text.charAt(at)) >= 0)) {
            at++;
        }
        String scalar = text.substring(start, at);
        if (scalar.length() > 32 || !scalar.matches("true|false|null|-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?")) {
            throw new NotJson();
        }
        other = other < 0 ? start : other;
    }

    private String string() throws NotJson {
        var value = new StringBuilder();
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == '"') {
                return value.toString();
            }
            if (c < ' ') {
                throw new NotJson();
            }
            value.append(c == '\\' ? escaped() : c);
        }
        throw new NotJson();
    }

    private char escaped() throws NotJson {
        if (at == text.length()) {
            throw new NotJson();
        }
        char c = text.charAt(at++);
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> unit();
            default -> throw new NotJson();
        };
    }

    private char unit() throws NotJson {
        int value = 0;
        for (int end = at + 4; at < end; at++) {
            int digit = at < text.length() ? Character.digit(text.charAt(at), 16) : -1;
            if (digit < 0) {
                throw new NotJson();
            }
            value = value * 16 + digit;
        }
        return (char) value;
    }

    private void expect(char wanted) throws NotJson {
        if (next() != wanted) {
            throw new NotJson();
        }
    }

    private char next() throws NotJson {
        char c = peek();
        at++;
        return c;
    }

    private char peek() throws NotJson {
        at = Words.skipSpaces(text, at);
        if (at >= text.length()) {
            throw new NotJson();
        }
        return text.charAt(at);
    }
}
