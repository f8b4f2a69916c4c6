package dev.cay.dockerfile;

import dev.cay.config.Suggestion;
import dev.cay.dockerfile.Instruction.Copy;
import dev.cay.dockerfile.Instruction.Run;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The stages that a target needs, and the images they need.
public final class StageGraph {
    private static final Pattern IMAGE = Pattern.compile("[a-z0-9][A-Za-z0-9._:/@\\[\\]-]{0,511}");
    private static final Pattern UPPER_CASE_NAME = Pattern.compile("(?:.*/)?[^:@/]*[A-Z][^/]*");

    private final Dockerfile dockerfile;
    private final GlobalArguments globals;
    private final Map<String, Integer> names = new HashMap<>();
    private final List<Node> nodes = new ArrayList<>();
    private final Problems problems = new Problems();

    /// The source of files: another stage, an image or the context.
    public sealed interface Origin {
        /// An earlier stage, by its index.
        record OfStage(int index) implements Origin {}

        /// @param platform null for the one of the build
        record OfImage(String reference, @Nullable String platform) implements Origin {}

        /// `FROM scratch`: no files.
        record Scratch() implements Origin {}
    }

    /// A stage with its names resolved.
    ///
    /// @param sources what its COPY and RUN name by `--from`, by the text that is written there
    public record Node(Stage stage, Origin base, Map<String, Origin> sources) {
        public Node {
            sources = Map.copyOf(sources);
        }

        /// Whether an instruction takes files from the build context.
        public boolean needsContext() {
            return stage.instructions().stream().anyMatch(Node::needsContext);
        }

        private static boolean needsContext(Instruction instruction) {
            return switch (instruction) {
                case Copy copy ->
                    copy.from() == null && !copy.transfer().sources().isEmpty();
                case Instruction.Add add -> add.transfer().sources().stream().anyMatch(source -> !source.isUrl());
                case Run run ->
                    run.mounts().stream().anyMatch(mount -> mount instanceof Mount.Bind bind && bind.from() == null);
                default -> false;
            };
        }

        private Set<Integer> needs() {
            var needs = new LinkedHashSet<Integer>();
            addStage(base, needs);
            sources.values().forEach(source -> addStage(source, needs));
            return needs;
        }

        private static void addStage(Origin origin, Set<Integer> needs) {
            if (origin instanceof Origin.OfStage(int index)) {
                needs.add(index);
            }
        }
    }

    private StageGraph(Dockerfile dockerfile, BuildArguments arguments) {
        this.dockerfile = dockerfile;
        this.globals = new GlobalArguments(dockerfile, arguments, new Expansion(dockerfile.escape()));
    }

    /// @param target a stage's name or number; null for the last one
    /// @return the stages that the target needs and the target itself, each behind those it needs
    /// @throws DockerfileException for names that are not there, circles, and problems of the stages' FROM
    public static List<Node> plan(Dockerfile dockerfile, BuildArguments arguments, @Nullable String target) {
        var graph = new StageGraph(dockerfile, arguments);
        for (var stage : dockerfile.stages()) {
            if (stage.name() != null) {
                graph.names.put(stage.name(), stage.index());
            }
        }
        for (var stage : dockerfile.stages()) {
            graph.nodes.add(graph.node(stage));
        }
        graph.problems.throwIfAny();
        return graph.order(graph.target(target));
    }

    private Node node(Stage stage) {
        Origin base = new Origin.Scratch();
        try {
            base = base(stage);
        } catch (DockerfileException e) {
            problems.add(e);
        }
        var sources = new HashMap<String, Origin>();
        for (var instruction : stage.instructions()) {
            try {
                addSources(instruction, stage, sources);
            } catch (DockerfileException e) {
                problems.add(e);
            }
        }
        return new Node(stage, base, sources);
    }

    private Origin base(Stage stage) {
        String platform = stage.platform() == null ? null : globals.expand(stage.platform(), stage.at());
        if (platform != null && platform.toLowerCase(Locale.ROOT).startsWith("windows")) {
            throw problem(stage.at(), "images of Windows are not supported", "use an image of Linux");
        }
        String base = globals.expand(stage.base(), stage.at());
        if (base.isEmpty()) {
            throw problem(
                    stage.at(),
                    "%s expands to nothing".formatted(Excerpt.of(stage.base())),
                    "give its ARG a default before the first FROM, or set the build argument");
        }
        if (base.equals("scratch")) {
            return new Origin.Scratch();
        }
        Integer index = names.get(base.toLowerCase(Locale.ROOT));
        if (index != null && index < stage.index()) {
            return new Origin.OfStage(index);
        }
        return image(base, platform == null || platform.isEmpty() ? null : platform, stage.at());
    }

    private void addSources(Instruction instruction, Stage stage, Map<String, Origin> sources) {
        if (instruction instanceof Copy copy && copy.from() != null) {
            sources.put(copy.from(), source(copy.from(), stage, copy.at()));
        } else if (instruction instanceof Run run) {
            for (var mount : run.mounts()) {
                String from = switch (mount) {
                    case Mount.Bind bind -> bind.from();
                    case Mount.Cache cache -> cache.from();
                    case Mount.Secret _, Mount.Tmpfs _ -> null;
                };
                if (from != null) {
                    sources.put(from, source(from, stage, run.at()));
                }
            }
        }
    }

    /// A name wins over a number, and a stage over an image.
    private Origin source(String from, Stage stage, Position at) {
        Integer index = names.get(from.toLowerCase(Locale.ROOT));
        if (index == null && from.matches("\\d{1,9}")) {
            index = Integer.parseInt(from);
            if (index >= dockerfile.stages().size()) {
                throw problem(
                        at,
                        "there is no stage %s".formatted(from),
                        "stages have the numbers 0 to %d"
                                .formatted(dockerfile.stages().size() - 1));
            }
        }
        if (index == null) {
            return from.equals("scratch") ? new Origin.Scratch() : image(from, null, at);
        }
        if (index == stage.index()) {
            throw problem(at, "the stage %s copies from itself".formatted(stage.label()), "name another stage");
        }
        return new Origin.OfStage(index);
    }

    private Origin image(String reference, @Nullable String platform, Position at) {
        if (!IMAGE.matcher(reference).matches()
                || UPPER_CASE_NAME.matcher(reference).matches()) {
            throw problem(
                    at,
                    "%s is neither a stage nor an image".formatted(Excerpt.of(reference)),
                    Suggestion.of(Excerpt.of(reference), names.keySet())
                            .map(near -> "did you mean the stage " + near + "?")
                            .orElse("write an image like debian:12, in lower case"));
        }
        return new Origin.OfImage(reference, platform);
    }

    private int target(@Nullable String target) {
        if (target == null) {
            return nodes.size() - 1;
        }
        Integer index = names.get(target.toLowerCase(Locale.ROOT));
        if (index == null && target.matches("\\d{1,9}") && Integer.parseInt(target) < nodes.size()) {
            index = Integer.parseInt(target);
        }
        if (index == null) {
            throw problem(
                    new Position(1, 1),
                    "there is no stage %s to build".formatted(Excerpt.of(target)),
                    Suggestion.of(Excerpt.of(target), names.keySet())
                            .map(near -> "did you mean " + near + "?")
                            .orElse("name a stage that has AS, or a number"));
        }
        return index;
    }

    /// Depth first, with a stack of its own: a file may have thousands of stages in a row.
    private List<Node> order(int target) {
        var ordered = new ArrayList<Node>();
        var done = new boolean[nodes.size()];
        var open = new boolean[nodes.size()];
        Deque<Integer> stack = new ArrayDeque<>(List.of(target));
        while (!stack.isEmpty()) {
            int index = stack.getLast();
            if (open[index] || done[index]) {
                stack.removeLast();
                if (!done[index]) {
                    done[index] = true;
                    ordered.add(nodes.get(index));
                }
                continue;
            }
            open[index] = true;
            for (int need : nodes.get(index).needs()) {
                if (open[need] && !done[need]) {
                    throw circle(index, need);
                }
                if (!done[need]) {
                    stack.addLast(need);
                }
            }
        }
        return List.copyOf(ordered);
    }

    private DockerfileException circle(int index, int need) {
        return problem(
                nodes.get(index).stage().at(),
                "the stages %s and %s need each other"
                        .formatted(
                                nodes.get(index).stage().label(),
                                nodes.get(need).stage().label()),
                "let only one of them copy from the other");
    }

    private DockerfileException problem(Position at, String what, String fix) {
        return new DockerfileException(dockerfile.fileName(), at, what, fix);
    }
}
