package dev.cay.sdk;

/// Keeps the first part of a text that may be endless.
final class Kept {
    private final int limit;
    private final StringBuilder text = new StringBuilder();
    private boolean cut;

    Kept(int limit) {
        this.limit = limit;
    }

    void add(String more) {
        int room = Math.min(more.length(), limit - text.length());
        text.append(more, 0, room);
        cut |= room < more.length();
    }

    String text() {
        return text.toString();
    }

    boolean isCut() {
        return cut;
    }
}
