package dev.cay.runner;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The little JSON that requests and events need. Reads into maps, lists, strings, numbers and booleans; writes ASCII.
final class Json {
    /// Requests are flat; deeper than this is no request.
    private static final int DEPTH = 16;

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /// @throws IllegalArgumentException when it is no JSON object
    static Map<String, @Nullable Object> object(String text) {
        var json = new Json(text);
        json.space();
        json.expect('{');
        var object = json.members(0);
        json.space();
        if (json.at != text.length()) {
            throw json.wrong();
        }
        return object;
    }

    static void write(Object value, StringBuilder to) {
        switch (value) {
            case Map<?, ?> map -> {
                char before = '{';
                for (var entry : map.entrySet()) {
                    quote(String.valueOf(entry.getKey()), to.append(before));
                    write(entry.getValue(), to.append(':'));
                    before = ',';
                }
                to.append(before == '{' ? "{}" : "}");
            }
            case Boolean truth -> to.append(truth);
            case Integer number -> to.append(number);
            case Long number -> to.append(number);
            default -> quote(value.toString(), to);
        }
    }

    /// Adds `"text"`, with everything outside of ASCII escaped.
    static void quote(CharSequence text, StringBuilder to) {
        to.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> to.append("\\\"");
                case '\\' -> to.append("\\\\");
                case '\n' -> to.append("\\n");
                default -> {
                    if (c >= 0x20 && c <= 0x7e) {
                        to.append(c);
                    } else {
                        escape(c, to);
                    }
                }
            }
        }
        to.append('"');
    }

    private static void escape(char c, StringBuilder to) {
        to.append("\\u");
        for (int shift = 12; shift >= 0; shift -= 4) {
            to.append(Character.forDigit((c >> shift) & 0xf, 16));
        }
    }

    private @Nullable Object value(int depth) {
        if (depth > DEPTH) {
            throw wrong();
        }
        space();
        char c = next();
        return switch (c) {
            case '{' -> members(depth);
            case '[' -> elements(depth);
            case '"' -> string();
            case 't' -> word("rue", true);
            case 'f' -> word("alse", false);
            case 'n' -> word("ull", null);
            default -> number();
        };
    }

    private Map<String, @Nullable Object> members(int depth) {
        var members = new LinkedHashMap<String, @Nullable Object>();
        space();
        if (skip('}')) {
            return members;
        }
        do {
            space();
            expect('"');
            var name = string();
            space();
            expect(':');
            members.put(name, value(depth + 1));
            space();
        } while (skip(','));
        expect('}');
        return members;
    }

    private List<@Nullable Object> elements(int depth) {
        var elements = new ArrayList<@Nullable Object>();
        space();
        if (skip(']')) {
            return elements;
        }
        do {
            elements.add(value(depth + 1));
            space();
        } while (skip(','));
        expect(']');
        return elements;
    }

    private String string() {
        var found = new StringBuilder();
        while (true) {
            int plain = at;
            while (at < text.length() && text.charAt(at) != '"' && text.charAt(at) != '\\') {
                at++;
            }
            found.append(text, plain, at);
            if (next() == '"') {
                return found.toString();
            }
            found.append(escaped());
        }
    }

    private char escaped() {
        char c = next();
        return switch (c) {
            case 'n' -> '\n';
            case 't' -> '\t';
            case 'r' -> '\r';
            case 'b' -> '\b';
            case 'f' -> '\f';
            case '"', '\\', '/' -> c;
            case 'u' -> {
                if (at + 4 > text.length()) {
                    throw wrong();
                }
                at += 4;
                yield (char) Integer.parseInt(text, at - 4, at, 16);
            }
            default -> throw wrong();
        };
    }

    private Number number() {
        int from = at - 1;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        var digits = text.substring(from, at);
        if (digits.chars().allMatch(c -> c == '-' || Character.isDigit(c))) {
            return Long.parseLong(digits);
        }
        return Double.parseDouble(digits);
    }

    private @Nullable Object word(String rest, @Nullable Object meaning) {
        if (!text.startsWith(rest, at)) {
            throw wrong();
        }
        at += rest.length();
        return meaning;
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private boolean skip(char wanted) {
        if (at < text.length() && text.charAt(at) == wanted) {
            at++;
            return true;
        }
        return false;
    }

    private void expect(char wanted) {
        if (!skip(wanted)) {
            throw wrong();
        }
    }

    private char next() {
        if (at >= text.length()) {
            throw wrong();
        }
        return text.charAt(at++);
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("no JSON at character " + at);
    }
}
