package dev.cay.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.dataformat.yaml.YAMLFactory;

/// Reads a YAML file as flat names with the line each stands on. Events instead of a tree, because a tree forgets
/// lines and swallows a key that is given twice.
final class ConfigFile {
    private static final long LARGEST = 1 << 20;

    /// One key with its text; the items of a list are joined by commas.
    record Entry(String name, String text, int line) {}

    private final List<Entry> entries = new ArrayList<>();
    private final Deque<String> names = new ArrayDeque<>();
    private final List<String> problems;
    private final Path file;
    private final Set<String> others;

    private ConfigFile(Path file, Set<String> others, List<String> problems) {
        this.file = file;
        this.others = others;
        this.problems = problems;
    }

    /// @param others sections that are for others to read
    static List<Entry> read(Path file, Set<String> others, List<String> problems) {
        var reading = new ConfigFile(file, others, problems);
        try {
            if (Files.size(file) > LARGEST) {
                problems.add(file + " is larger than 1 MB; that cannot be a configuration");
                return List.of();
            }
            reading.parse(Files.readString(file));
        } catch (NoSuchFileException _) {
            problems.add(file + " does not exist; name another file or leave the option out");
        } catch (JacksonException e) {
            var place = e.getLocation();
            problems.add("%s:%d: not YAML: %s"
                    .formatted(file, place == null ? 1 : place.getLineNr(), firstLine(e.getOriginalMessage())));
        } catch (IOException e) {
            problems.add("%s cannot be read (%s); run as a user who may"
                    .formatted(file, e.getClass().getSimpleName()));
        }
        return reading.entries;
    }

    private void parse(String yaml) {
        try (JsonParser parser = new YAMLFactory().createParser(ObjectReadContext.empty(), yaml)) {
            JsonToken first = parser.nextToken();
            if (first == null || first == JsonToken.VALUE_NULL) {
                return;
            }
            if (first != JsonToken.START_OBJECT) {
                problems.add(file + ":1: must hold lines of the form `key: value`");
                return;
            }
            section(parser);
        }
    }

    private void section(JsonParser parser) {
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            names.addLast(parser.currentName());
            int line = parser.currentTokenLocation().getLineNr();
            var token = parser.nextToken();
            if (others.contains(String.join(".", names))) {
                parser.skipChildren();
                names.removeLast();
                continue;
            }
            switch (token) {
                case START_OBJECT -> section(parser);
                case START_ARRAY -> add(items(parser), line);
                case VALUE_NULL -> {}
                case null, default -> add(parser.getString(), line);
            }
            names.removeLast();
        }
    }

    private String items(JsonParser parser) {
        var items = new ArrayList<String>();
        for (JsonToken token = parser.nextToken(); token != JsonToken.END_ARRAY; token = parser.nextToken()) {
            if (token == null || token.isStructStart()) {
                parser.skipChildren();
                problems.add("%s:%d: %s takes a list of plain values"
                        .formatted(file, parser.currentTokenLocation().getLineNr(), String.join(".", names)));
            } else {
                items.add(parser.getString());
            }
        }
        return String.join(", ", items);
    }

    private void add(String text, int line) {
        String name = String.join(".", names);
        for (Entry entry : entries) {
            if (entry.name().equals(name)) {
                problems.add("%s:%d: %s is given twice, first on line %d; keep one"
                        .formatted(file, line, name, entry.line()));
                return;
            }
        }
        entries.add(new Entry(name, text.strip(), line));
    }

    private static String firstLine(String text) {
        return text.lines().findFirst().orElse("");
    }
}
