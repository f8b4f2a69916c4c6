package dev.cay.node.mcp.server;

import dev.cay.node.mcp.catalog.LaunchPlan;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/// The values a server was given, which must not stand in what is told of it. Servers like to print them.
final class Secrets {
    /// Shorter ones are words that occur anyway.
    private static final int SHORTEST = 4;

    /// Lines of a value that has several are looked for alone from this length on.
    private static final int SHORTEST_LINE = 8;

    private static final char STRUCK = '\0';

    /// Longest first: one that is part of another must not leave the rest of it standing.
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

    /// How many characters the longest has.
    int longest() {
        return values.isEmpty() ? 0 : values.getFirst().length();
    }

    /// @param cut whether the text begins somewhere in the middle, perhaps of a value: then as much of it as may be the
    ///            rest of one is left out
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

    /// As long as what it stands for, so that places stay what they are.
    private static String filler(int length) {
        var filler = new char[length];
        Arrays.fill(filler, STRUCK);
        return new String(filler);
    }
}
