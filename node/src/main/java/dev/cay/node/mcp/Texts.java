package dev.cay.node.mcp;

/// Texts of servers and clients in a form in which they can be repeated.
final class Texts {
    private static final int LONGEST = 500;
    private static final int BEGINNING = 200;

    private Texts() {}

    /// One line of limited length: the beginning and the end, because the last words often say most.
    static String brief(String text) {
        String line = text.replaceAll("\\p{Cntrl}+", " ").strip();
        if (line.length() <= LONGEST) {
            return line;
        }
        String end = line.substring(line.length() - (LONGEST - BEGINNING));
        return line.substring(0, BEGINNING) + " … " + end.substring(end.indexOf(' ') + 1);
    }
}
