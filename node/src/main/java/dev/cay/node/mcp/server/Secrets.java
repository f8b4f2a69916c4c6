package dev.cay.node.mcp.server;

import dev.cay.node.mcp.catalog.LaunchPlan;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/// The values that a server was given. They are removed from all messages about it, because servers often print them.
final class Secrets {
    /// Shorter values are not removed, because they are common words.
    private static final int SHORTEST = 4;

    /// From this length on, a line of a value with several lines is also removed by itself.
    private static final int SHORTEST_LINE = 8;

    private static final char STRUCK = '\0';

    /// Longest first: a value that is part of another must not leave the rest of that.
    private final List<String> values;

    Secrets(LaunchPlan plan) {
        this(Stream.concat(
                plan.environment().values().stream(), plan.secretInArguments() ? arguments(plan) : Stream.empty()));
    }

    Secrets(Stream<String> given) {
        this.values = given.flatMap(value ->
                        Stream.concat(Stream.of(value), value.lines().filter(line -> line.length() >= SHORTEST_LINE)))
                .map(String::strip)
                .filter(value -> value.length() >= SHORTEST)
                .distinct()
                .sorted(Comparator.comparingInt(String::length).reversed())
                .toList();
    }

    private static Stream<String> arguments(LaunchPlan plan) {
        return switch (plan.start()) {
            case LaunchPlan.Npm npm -> npm.arguments().stream();
            case LaunchPlan.Image image -> image.arguments().stream();
            case LaunchPlan.Command command -> command.line().stream().skip(1);
            case LaunchPlan.Repository repository -> repository.line().stream().skip(1);
            case LaunchPlan.Remote _ -> Stream.empty();
        };
    }

    /// The length of the longest value.
    int longest() {
        return values.isEmpty() ? 0 : values.getFirst().length();
    }

    /// @param cut whether the text begins in the middle, perhaps of a value: then its beginning is removed as far as it
    ///            may be the rest of one
    String strikeOut(String text, boolean cut) {
        String clean = text.replace(STRUCK, ' ');
        for (String value : values) {
            clean = clean.replace(value, filler(value.length()));
        }
        if (cut) {
            // A character that was cut itself is shown as up to three.
            clean = clean.substring(Math.min(clean.length(), longest() + 3));
        }
        return clean.replaceAll(STRUCK + "+", "***");
    }

    /// A text of the same length, so that positions stay the same.
    private static String filler(int length) {
        var filler = new char[length];
        Arrays.fill(filler, STRUCK);
        return new String(filler);
    }
}
