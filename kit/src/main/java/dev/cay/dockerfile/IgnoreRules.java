package dev.cay.dockerfile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The rules of a `.dockerignore`: which files of a directory are not in the build context. The last rule that
/// matches a path or a directory above it decides.
public final class IgnoreRules {
    private static final int MOST_RULES = 2000;
    private static final int LONGEST_RULE = 1024;
    private static final long LARGEST_FILE = 1 << 20;

    /// No file is ignored.
    public static final IgnoreRules NONE = new IgnoreRules(List.of());

    private final List<Rule> rules;

    /// @param at        in the file, for messages
    /// @param written   the pattern as it stands in the file, without spaces around it
    /// @param exception whether matching files are kept, by `!`
    /// @param plain     the pattern before its first special character
    record Rule(String file, Position at, String written, boolean exception, String plain, Glob glob) {
        private boolean matchesItOrAParent(String path) {
            if (plain.length() < written.length()) {
                return glob.matchesItOrAParent(path);
            }
            boolean starts = !plain.isEmpty() && path.startsWith(plain);
            return starts && (path.length() == plain.length() || path.charAt(plain.length()) == '/');
        }

        /// Whether it may match something below the directory. It may be wrong in saying so.
        private boolean mayMatchBelow(String directory) {
            String below = directory + "/";
            if (plain.length() == written.length()) {
                return plain.startsWith(below);
            }
            boolean deepEnough = written.contains("**") || slashes(written) >= slashes(below);
            return deepEnough && (plain.startsWith(below) || below.startsWith(plain));
        }

        private static long slashes(String path) {
            return path.chars().filter(c -> c == '/').count();
        }

        String place() {
            return "%s:%d".formatted(file, at.line());
        }
    }

    private IgnoreRules(List<Rule> rules) {
        this.rules = List.copyOf(rules);
    }

    /// @throws DockerfileException with all patterns that are malformed
    public static IgnoreRules parse(String text) {
        return parse(text, ".dockerignore");
    }

    /// The rules for a Dockerfile: of `NAME.dockerignore` beside it, otherwise of `.dockerignore` in the context.
    public static IgnoreRules load(Path context, Path dockerfile) {
        var special = dockerfile.resolveSibling(dockerfile.getFileName() + ".dockerignore");
        var file = Files.isRegularFile(special) ? special : context.resolve(".dockerignore");
        try {
            if (!Files.isRegularFile(file)) {
                return NONE;
            }
            if (Files.size(file) > LARGEST_FILE) {
                throw new DockerfileException(
                        file.toString(), new Position(1, 1), "the file is larger than 1 MB", "use fewer patterns");
            }
            return parse(Files.readString(file), file.toString());
        } catch (IOException e) {
            throw new DockerfileException(
                    file.toString(), new Position(1, 1), "the file cannot be read: " + e, "save it as UTF-8 text");
        }
    }

    static IgnoreRules parse(String text, String file) {
        var problems = new Problems();
        var rules = new ArrayList<Rule>();
        int number = 0;
        for (String line :
                (text.startsWith("\uFEFF") ? text.substring(1) : text).lines().toList()) {
            number++;
            String pattern = line.strip();
            if (line.startsWith("#") || pattern.isEmpty()) {
                continue;
            }
            try {
                rules.add(rule(file, new Position(number, line.indexOf(pattern) + 1), pattern));
                if (rules.size() > MOST_RULES) {
                    throw new DockerfileException(
                            file, new Position(number, 1), "more than 2,000 patterns", "use fewer and wider patterns");
                }
            } catch (DockerfileException e) {
                problems.add(e);
            }
        }
        problems.throwIfAny();
        return new IgnoreRules(rules);
    }

    /// Makes rules from patterns that were not read from a file, like those of `--exclude`.
    static IgnoreRules of(List<String> patterns, String file, Position at) {
        return new IgnoreRules(patterns.stream()
                .map(pattern -> rule(file, at, pattern.strip()))
                .toList());
    }

    private static Rule rule(String file, Position at, String pattern) {
        boolean exception = pattern.startsWith("!");
        String cleaned = Paths.relative((exception ? pattern.substring(1) : pattern).strip());
        if (pattern.equals("!") || pattern.length() > LONGEST_RULE) {
            throw new DockerfileException(
                    file,
                    at,
                    pattern.equals("!") ? "! without a pattern" : "a pattern has more than 1,024 characters",
                    "write !pattern, or remove the line");
        }
        try {
            var glob = Glob.ignore(cleaned);
            int end = 0;
            while (end < cleaned.length() && "*?[\\".indexOf(cleaned.charAt(end)) < 0) {
                end++;
            }
            return new Rule(file, at, cleaned, exception, cleaned.substring(0, end), glob);
        } catch (Glob.BadPattern e) {
            throw new DockerfileException(
                    file, at, "the pattern %s %s".formatted(Excerpt.of(pattern), e.why()), "correct the pattern");
        }
    }

    /// @param path relative to the context, with `/` between names
    /// @return for a file, whether it is ignored. For a directory, whether it is ignored with all that is below it;
    ///     false when an exception may match there
    public boolean ignores(String path, boolean isDirectory) {
        String cleaned = Paths.relative(path);
        boolean ignored = deciding(cleaned).isPresent();
        return ignored && !(isDirectory && mayKeepBelow(cleaned));
    }

    /// The rule by which the path is ignored; empty when it is not.
    Optional<Rule> deciding(String path) {
        Rule deciding = null;
        if (!path.isEmpty()) {
            for (var rule : rules) {
                if (rule.exception == (deciding != null) && rule.matchesItOrAParent(path)) {
                    deciding = rule.exception ? null : rule;
                }
            }
        }
        return Optional.ofNullable(deciding);
    }

    boolean mayKeepBelow(String directory) {
        return rules.stream().anyMatch(rule -> rule.exception && rule.mayMatchBelow(directory));
    }
}
