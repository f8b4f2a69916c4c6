package dev.cay.server.build;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Names of images that mean a template of this Cay.
///
/// A rule is `image=template`; in the image's name `*` matches anything. The first matching rule counts.
public record ImageNames(List<String> rules) {
    /// Templates in place of E2B's own images.
    private static final List<String> USUAL = List.of(
            "e2bdev/base=base",
            "e2bdev/base:*=base",
            "e2bdev/code-interpreter=code-interpreter-v1",
            "e2bdev/code-interpreter:*=code-interpreter-v1");

    private static final Pattern REGISTRY = Pattern.compile("^(docker\\.io|index\\.docker\\.io)/(library/)?");

    public ImageNames {
        var all = new ArrayList<>(rules);
        all.addAll(USUAL);
        rules = List.copyOf(all);
    }

    /// The template that an image's name means.
    Optional<String> template(String image) {
        String name = REGISTRY.matcher(image.strip().toLowerCase(Locale.ROOT)).replaceFirst("");
        return rules.stream()
                .map(rule -> rule.split("=", 2))
                .filter(rule -> rule.length == 2 && fits(rule[0], name))
                .map(rule -> rule[1])
                .findFirst();
    }

    private static boolean fits(String pattern, String name) {
        String expression = pattern.chars()
                .mapToObj(c -> c == '*' ? ".*" : Pattern.quote(Character.toString(c)))
                .collect(Collectors.joining());
        return name.matches(expression);
    }
}
