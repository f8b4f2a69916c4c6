package dev.cay.dockerfile;

/// Text of a user inside a message: one line, not longer than a message bears.
final class Excerpt {
    private static final int MOST = 80;

    private Excerpt() {}

    static String of(String text) {
        String shown = text.length() > MOST ? text.substring(0, MOST) + "…" : text;
        return shown.codePoints()
                .map(c -> Character.isISOControl(c) ? '\uFFFD' : c)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }
}
