package dev.cay.dockerfile;

/// A place in a text. Lines and columns count from 1, columns in UTF-16 units.
public record Position(int line, int column) implements Comparable<Position> {
    @Override
    public int compareTo(Position other) {
        return line == other.line ? Integer.compare(column, other.column) : Integer.compare(line, other.line);
    }

    @Override
    public String toString() {
        return line + ":" + column;
    }
}
