package dev.cay.cli.doctor;

import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Pattern;

/// The first two numbers of a version; the rest never decides anything for us.
record Version(int major, int minor) implements Comparable<Version> {
    private static final Pattern FORM = Pattern.compile("(\\d{1,6})\\.(\\d{1,6})");

    static Optional<Version> in(String text) {
        var parts = FORM.matcher(text);
        return parts.find()
                ? Optional.of(new Version(Integer.parseInt(parts.group(1)), Integer.parseInt(parts.group(2))))
                : Optional.empty();
    }

    boolean isAtLeast(int otherMajor, int otherMinor) {
        return compareTo(new Version(otherMajor, otherMinor)) >= 0;
    }

    @Override
    public int compareTo(Version other) {
        return Comparator.comparingInt(Version::major)
                .thenComparingInt(Version::minor)
                .compare(this, other);
    }

    @Override
    public String toString() {
        return major + "." + minor;
    }
}
