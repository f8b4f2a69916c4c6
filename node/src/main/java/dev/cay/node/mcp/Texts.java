package dev.cay.node.mcp;

/// What others said, where we repeat it.
final class Texts {
    private static final int LONGEST = 500;
    private static final int BEGINNING = 200;

    private Texts() {}

    /// On one line, and not too long: the beginning and the end, as the last that was said often tells most.
    static String brief(String text) {
        String line = text.replaceAll("\\p{Cntrl}+", " ").strip();
        if (line.length() <= LONGEST) {
            return line;
        }
        String end = line.substring(line.length() - (LONGEST - BEGINNING));
        return line.substring(0, BEGINNING) + " … " + end.substring(end.indexOf(' ') + 1);
    }
}
