package dev.cay.node.image;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Finds the host's Debian mirror, if the host has the release that templates use.
///
/// Only Debian's own archive among the host's sources counts; repositories of third parties stay out of the template.
final class AptSources {
    private final Path etc;
    private final String suite;

    AptSources(Path etc, String suite) {
        this.etc = etc;
        this.suite = suite;
    }

    /// Lines of the one-line form; empty when the host is of another release, and mmdebstrap knows better.
    List<String> list() {
        var lines = new LinkedHashSet<String>();
        for (Path file : files()) {
            try {
                String text = Files.readString(file);
                (file.toString().endsWith(".sources") ? stanzas(text) : oneLines(text)).forEach(lines::add);
            } catch (IOException _) {
                // An unreadable source cannot be used.
            }
        }
        boolean complete = lines.stream().anyMatch(line -> line.contains(" " + suite + " main"));
        return complete ? List.copyOf(lines) : List.of();
    }

    private List<Path> files() {
        var files = new ArrayList<>(List.of(etc.resolve("apt/sources.list")));
        try (var more = Files.list(etc.resolve("apt/sources.list.d"))) {
            more.filter(file ->
                            file.toString().endsWith(".list") || file.toString().endsWith(".sources"))
                    .sorted()
                    .forEach(files::add);
        } catch (IOException _) {
            // Not every host has the directory.
        }
        return files.stream().filter(Files::isReadable).toList();
    }

    private List<String> oneLines(String text) {
        var lines = new ArrayList<String>();
        for (String line : text.lines().map(String::strip).toList()) {
            if (!line.startsWith("deb ")) {
                continue;
            }
            int open = line.indexOf('[');
            int close = line.indexOf(']');
            boolean hasOptions = open > 0 && close > open;
            String options = hasOptions ? line.substring(open + 1, close) : "";
            String rest = hasOptions ? line.substring(close + 1) : line.substring("deb ".length());
            String[] words = rest.strip().split("\\s+");
            if (words.length >= 3) {
                var components = Set.copyOf(Arrays.asList(words).subList(2, words.length));
                lines.addAll(accepted(words[0], List.of(words[1]), components, signedBy(options)));
            }
        }
        return lines;
    }

    private static String signedBy(String options) {
        return Arrays.stream(options.split("\\s+"))
                .filter(option -> option.startsWith("signed-by="))
                .map(option -> option.substring("signed-by=".length()))
                .findFirst()
                .orElse("");
    }

    private List<String> stanzas(String text) {
        var lines = new ArrayList<String>();
        for (String stanza : text.split("\\n\\s*\\n")) {
            var fields = fields(stanza);
            boolean usable = !fields.getOrDefault("enabled", "yes").equalsIgnoreCase("no")
                    && words(fields.get("types")).contains("deb");
            if (usable) {
                for (String uri : words(fields.get("uris"))) {
                    lines.addAll(accepted(
                            uri,
                            words(fields.get("suites")),
                            Set.copyOf(words(fields.get("components"))),
                            fields.getOrDefault("signed-by", "")));
                }
            }
        }
        return lines;
    }

    private static Map<String, String> fields(String stanza) {
        var fields = new HashMap<String, String>();
        for (String line : stanza.lines().toList()) {
            int colon = line.indexOf(':');
            if (colon > 0 && !line.startsWith("#") && !Character.isWhitespace(line.charAt(0))) {
                fields.put(
                        line.substring(0, colon).toLowerCase(Locale.ROOT),
                        line.substring(colon + 1).strip());
            }
        }
        return fields;
    }

    private static List<String> words(@Nullable String text) {
        return text == null || text.isBlank()
                ? List.of()
                : Arrays.asList(text.strip().split("\\s+"));
    }

    private List<String> accepted(String uri, List<String> suites, Set<String> components, String signedBy) {
        if (!components.contains("main") || !isDebian(uri, signedBy)) {
            return List.of();
        }
        var ours = Set.of(suite, suite + "-updates", suite + "-security");
        String options = signedBy.startsWith("/") ? "[signed-by=%s] ".formatted(signedBy) : "";
        return suites.stream()
                .filter(ours::contains)
                .map(name -> "deb %s%s %s main".formatted(options, uri, name))
                .toList();
    }

    /// Third parties sign with keys of their own and seldom call their archive Debian.
    private static boolean isDebian(String uri, String signedBy) {
        try {
            String path = URI.create(uri).getPath();
            return path != null
                    && path.matches(".*debian[^/]*/?")
                    && (signedBy.isEmpty() || signedBy.contains("debian-archive"));
        } catch (IllegalArgumentException _) {
            return false;
        }
    }
}
