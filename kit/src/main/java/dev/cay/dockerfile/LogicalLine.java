package dev.cay.dockerfile;

import java.util.List;
import java.util.stream.Collectors;

/// One instruction as text: its physical lines joined, and the bodies of its heredocs.
///
/// @param pieces where each part of the text came from, in the order of offsets; the first has offset 0
record LogicalLine(String file, String text, List<Piece> pieces, List<Heredoc> heredocs) {
    record Piece(int offset, Position at) {}

    /// @param body      the lines between, each with its line end, as they are in the file
    /// @param expand    false when the delimiter was quoted
    /// @param stripTabs true for `<<-`
    record Heredoc(String name, String body, boolean expand, boolean stripTabs) {
        String content() {
            return stripTabs
                    ? body.lines().map(Heredoc::withoutTabs).collect(Collectors.joining("\n", "", "\n"))
                    : body;
        }

        static String withoutTabs(String line) {
            int start = 0;
            while (start < line.length() && line.charAt(start) == '\t') {
                start++;
            }
            return line.substring(start);
        }
    }

    Position at(int offset) {
        int low = 0;
        int high = pieces.size() - 1;
        while (low < high) {
            int middle = (low + high + 1) >>> 1;
            if (pieces.get(middle).offset() <= offset) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        var piece = pieces.get(low);
        return new Position(piece.at().line(), piece.at().column() + offset - piece.offset());
    }

    DockerfileException problem(int offset, String what, String fix) {
        return new DockerfileException(file, at(offset), what, fix);
    }
}
