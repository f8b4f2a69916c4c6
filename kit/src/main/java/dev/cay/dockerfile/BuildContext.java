package dev.cay.dockerfile;

import dev.cay.config.Suggestion;
import dev.cay.dockerfile.Instruction.Source;
import dev.cay.dockerfile.Instruction.Transfer;
import dev.cay.dockerfile.Selection.Entry;
import dev.cay.dockerfile.Selection.Matched;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;

/// The directory that COPY and ADD take files from. No file outside of it is ever read: a link that a source names is
/// followed inside the directory only, and links below a source are kept as links.
public final class BuildContext {
    private static final int MOST_SIBLINGS = 1000;
    private static final int MOST_LINKS = 40;

    private final Path root;
    private final IgnoreRules rules;

    private BuildContext(Path root, IgnoreRules rules) {
        this.root = root;
        this.rules = rules;
    }

    /// @throws IOException when the directory cannot be read
    public static BuildContext of(Path directory, IgnoreRules rules) throws IOException {
        return new BuildContext(directory.toRealPath(), rules);
    }

    /// Selects the files of the instruction's sources that are paths. The caller handles heredocs and URLs.
    ///
    /// @param transfer the instruction with variables expanded
    /// @param file     name of the Dockerfile, for messages
    /// @param at       place of the instruction
    /// @throws DockerfileException for sources outside of the context, and for those that match no file
    public Selection select(Transfer transfer, String file, Position at) {
        var excludes = IgnoreRules.of(transfer.excludes(), file, at);
        var problems = new Problems();
        var matched = new ArrayList<Matched>();
        var entries = new TreeMap<String, Entry>();
        var walk = new ContextWalk(root, rules, excludes, entries);
        for (var source : transfer.sources()) {
            if (source.isUrl()) {
                continue;
            }
            try {
                matched.addAll(take(source, transfer.parents(), file, walk));
            } catch (DockerfileException e) {
                problems.add(e);
            } catch (IOException e) {
                problems.add(problem(
                        source,
                        file,
                        "%s cannot be read: %s".formatted(Excerpt.of(source.text()), e),
                        "check the file and its permissions"));
            }
        }
        problems.throwIfAny();
        boolean nothingElse =
                transfer.files().isEmpty() && transfer.sources().stream().noneMatch(Source::isUrl);
        if (matched.isEmpty() && nothingElse) {
            var first = transfer.sources().getFirst();
            throw problem(
                    first,
                    file,
                    "no file of the context matches %s".formatted(Excerpt.of(first.text())),
                    "check the pattern and .dockerignore");
        }
        return new Selection(matched, List.copyOf(entries.values()));
    }

    private List<Matched> take(Source source, boolean parents, String file, ContextWalk walk) throws IOException {
        var taken = new ArrayList<Matched>();
        for (var match : find(source, parents, file)) {
            if (walk.add(match.path(), root.resolve(match.path()).toRealPath())) {
                taken.add(match);
            } else if (!isPattern(source.text())) {
                throw missing(source, match.path(), file);
            }
        }
        return taken;
    }

    private List<Matched> find(Source source, boolean parents, String file) throws IOException {
        String text = source.text();
        int pivot = parents ? text.indexOf("/./") : -1;
        String parent = pivot < 0 ? "" : Paths.relative(text.substring(0, pivot));
        String path = Paths.relative(text);
        if (Paths.leaves(path)) {
            throw problem(
                    source,
                    file,
                    "%s is outside of the build context".formatted(Excerpt.of(text)),
                    "copy the file into the context, or build with a directory above as context");
        }
        Set<String> found = new LinkedHashSet<>(Set.of(""));
        var parts = path.isEmpty() ? List.<String>of() : List.of(path.split("/", -1));
        for (int i = 0; i < parts.size(); i++) {
            found = step(found, parts.get(i), parents, i == parts.size() - 1, source, file);
        }
        var matched = new ArrayList<Matched>();
        for (String name : found) {
            matched.add(new Matched(name, Files.isDirectory(root.resolve(name)), parent));
        }
        if (matched.isEmpty() && !isPattern(path)) {
            throw missing(source, path, file);
        }
        return matched;
    }

    /// Follows one more part of a path. A pattern does not lead through links to directories, a name does.
    private Set<String> step(Set<String> from, String part, boolean deep, boolean last, Source source, String file)
            throws IOException {
        var reached = new LinkedHashSet<String>();
        try {
            if (deep && part.equals("**")) {
                for (String directory : from) {
                    ContextWalk.directories(root, directory, reached);
                }
                return reached;
            }
            var glob = isPattern(part) ? Glob.path(part) : null;
            for (String directory : from) {
                if (glob == null) {
                    addIfThere(child(directory, part), reached, source, file);
                    continue;
                }
                for (String name : ContextWalk.names(inside(directory, source, file))) {
                    String path = child(directory, name);
                    if (glob.matches(name) && (last || !Files.isSymbolicLink(root.resolve(path)))) {
                        addIfThere(path, reached, source, file);
                    }
                }
            }
            return reached;
        } catch (Glob.BadPattern e) {
            throw problem(
                    source, file, "the pattern %s %s".formatted(Excerpt.of(part), e.why()), "correct the pattern");
        } catch (InvalidPathException _) {
            throw problem(source, file, "%s is no path".formatted(Excerpt.of(source.text())), "correct the path");
        }
    }

    /// Adds a path that exists and is not ignored.
    private void addIfThere(String path, Set<String> reached, Source source, String file) throws IOException {
        var place = root.resolve(path);
        if (leadsOut(path)) {
            throw outside(path, source, file);
        }
        if (!Files.exists(place)) {
            return;
        }
        String actual = root.relativize(inside(path, source, file)).toString();
        boolean directory = Files.isDirectory(place);
        if (!rules.ignores(path, directory) && !rules.ignores(actual, directory)) {
            reached.add(path);
        }
    }

    private Path inside(String path, Source source, String file) throws IOException {
        var real = root.resolve(path).toRealPath();
        if (!real.startsWith(root)) {
            throw outside(path, source, file);
        }
        return real;
    }

    /// Whether links lead out of the context. Judges by the text of links alone, whether or not their targets exist, so
    /// a build cannot probe for files outside.
    private boolean leadsOut(String path) throws IOException {
        var left = new ArrayDeque<>(List.of(path.split("/")));
        var at = root;
        for (int links = 0; !left.isEmpty() && links <= MOST_LINKS; ) {
            String name = left.removeFirst();
            var next = at.resolve(name).normalize();
            if (!next.startsWith(root)) {
                return true;
            }
            if (!Files.isSymbolicLink(next)) {
                at = next;
                continue;
            }
            links++;
            var target = Files.readSymbolicLink(next);
            if (target.isAbsolute()) {
                return true;
            }
            for (int i = target.getNameCount() - 1; i >= 0; i--) {
                left.addFirst(target.getName(i).toString());
            }
        }
        return !left.isEmpty();
    }

    private static DockerfileException outside(String path, Source source, String file) {
        return problem(
                source,
                file,
                "%s is a link that leads out of the build context".formatted(Excerpt.of(path)),
                "copy the file into the context");
    }

    private DockerfileException missing(Source source, String path, String file) {
        String shown = Excerpt.of(source.text());
        var rule = rules.deciding(path);
        if (rule.isPresent() && Files.exists(root.resolve(path))) {
            return problem(
                    source,
                    file,
                    "%s is ignored by %s: %s"
                            .formatted(
                                    shown,
                                    rule.get().place(),
                                    Excerpt.of(rule.get().written())),
                    "add !%s to that file".formatted(Excerpt.of(path)));
        }
        int slash = path.lastIndexOf('/');
        String fix = Suggestion.of(
                        Excerpt.of(path.substring(slash + 1)), siblings(path.substring(0, Math.max(slash, 0))))
                .map(near -> "did you mean %s?".formatted(Excerpt.of(near)))
                .orElse("paths are relative to the context");
        return problem(source, file, "%s is not in the build context".formatted(shown), fix);
    }

    private List<String> siblings(String directory) {
        try {
            var real = root.resolve(directory).toRealPath();
            return real.startsWith(root)
                    ? ContextWalk.names(real).stream().limit(MOST_SIBLINGS).toList()
                    : List.of();
        } catch (IOException _) {
            return List.of();
        }
    }

    private static boolean isPattern(String path) {
        return path.chars().anyMatch(c -> "*?[\\".indexOf(c) >= 0);
    }

    private static String child(String directory, String name) {
        return directory.isEmpty() ? name : directory + "/" + name;
    }

    private static DockerfileException problem(Source source, String file, String what, String fix) {
        return new DockerfileException(file, source.at(), what, fix);
    }
}
