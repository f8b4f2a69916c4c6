package dev.cay.dockerfile;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/// Reads FROM.
final class FromParser {
    private static final Pattern STAGE_NAME = Pattern.compile("[a-z][a-z0-9._-]{0,127}");

    private FromParser() {}

    /// A stage that has no instructions yet.
    static Stage parse(Operands operands, int index) {
        operands.allow(Set.of("platform"), Set.of());
        var words = operands.words();
        boolean named = words.size() == 3 && words.get(1).text().equalsIgnoreCase("as");
        if (words.size() != 1 && !named) {
            throw operands.problem(
                    0, "FROM takes an image and at most a name", "write FROM image or FROM image AS name");
        }
        words.forEach(operands::checkVariables);
        String platform = operands.value("platform");
        if (platform != null) {
            operands.checkVariables(platform, operands.offsetOf("platform"));
            if (platform.toLowerCase(Locale.ROOT).startsWith("windows")) {
                throw operands.problem(
                        operands.offsetOf("platform"), "images of Windows are not supported", "use an image of Linux");
            }
        }
        String name = null;
        if (named) {
            name = words.get(2).text().toLowerCase(Locale.ROOT);
            if (!STAGE_NAME.matcher(name).matches() || name.equals("scratch") || name.equals("context")) {
                throw operands.problem(
                        words.get(2).offset(),
                        "%s cannot name a stage"
                                .formatted(Excerpt.of(words.get(2).text())),
                        "use a letter, then letters, digits and . _ -");
            }
        }
        return new Stage(operands.at(), index, name, words.getFirst().text(), platform, List.of());
    }
}
