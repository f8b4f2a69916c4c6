package dev.cay.node.mcp;

/// What others said, where we repeat it.
final class Texts {
    private static final int LONGEST = 500;

    private Texts() {}

    /// On one line, and not too long.
    static String brief(String text) {
        String line = text.replaceAll("\\p{Cntrl}+", " ").strip();
        return line.length() <= LONGEST ? line : line.substring(0, LONGEST) + "…";
    }
}
