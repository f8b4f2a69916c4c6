package dev.cay.prove.fuzz;

import java.nio.charset.StandardCharsets;

/// The result of one input.
///
/// @param outcome in a word, to be counted
/// @param wrong   the violation; empty without one
/// @param sent    the input
/// @param heard   the answer
public record Played(String outcome, String wrong, byte[] sent, byte[] heard) {
    private static final int SHOWN = 6000;

    static Played fine(String outcome, byte[] sent, byte[] heard) {
        return new Played(outcome, "", sent, heard);
    }

    public boolean isFine() {
        return wrong.isEmpty();
    }

    /// Both sides of the conversation as text: unprintable bytes are shown by their codes.
    public String transcript() {
        return "sent:\n%s\nheard:\n%s\noutcome: %s\n%s".formatted(printed(sent), printed(heard), outcome, wrong);
    }

    private static String printed(byte[] bytes) {
        var text = new StringBuilder();
        for (char one : new String(bytes, StandardCharsets.ISO_8859_1).toCharArray()) {
            if (one == '\n' || (one >= ' ' && one < 127)) {
                text.append(one);
            } else {
                text.append(one == '\r' ? "\\r" : "\\x%02x".formatted((int) one));
            }
            if (text.length() > SHOWN) {
                return text + "... (%d bytes in all)".formatted(bytes.length);
            }
        }
        return text.toString();
    }
}
