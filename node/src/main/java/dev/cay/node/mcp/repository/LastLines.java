package dev.cay.node.mcp.repository;

/// The end of a program's output, in one line.
final class LastLines {
    private LastLines() {}

    static String of(String text, int most) {
        String end = text.strip();
        return end.substring(Math.max(0, end.length() - most))
                .replaceAll("[\\p{Cntrl}\\s]+", " ")
                .strip();
    }
}
