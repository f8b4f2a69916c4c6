package dev.cay.prove.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.cay.dockerfile.BuildArguments;
import dev.cay.dockerfile.BuildContext;
import dev.cay.dockerfile.Buildable;
import dev.cay.dockerfile.Dockerfile;
import dev.cay.dockerfile.DockerfileException;
import dev.cay.dockerfile.Evaluation;
import dev.cay.dockerfile.IgnoreRules;
import dev.cay.dockerfile.Instruction;
import dev.cay.dockerfile.StageGraph;
import dev.cay.dockerfile.StageGraph.Origin;
import dev.cay.dockerfile.StageState;
import dev.cay.dockerfile.StartCommand;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The reader of Dockerfiles, in this process, with all that a build does before it runs anything.
final class DockerfileTarget implements Target {
    private static final long MOST_BYTES = 2L << 30;
    private static final String FILE = "Dockerfile";
    private static final String IGNORE_FILE = ".dockerignore";

    private final Deadlines deadlines = new Deadlines(MOST_BYTES);
    private final ContextFiles context;

    DockerfileTarget() throws IOException {
        context = new ContextFiles();
    }

    @Override
    public String name() {
        return "dockerfiles";
    }

    /// One input.
    private record Case(
            String text,
            String ignore,
            BuildArguments arguments,
            @Nullable String target) {
        byte[] bytes() {
            return (text + "\n--- ignored:\n" + ignore).getBytes(UTF_8);
        }
    }

    @Override
    public Played play(long seed) throws IOException, InterruptedException {
        var dice = new Dice(seed);
        var texts = new DockerfileTexts(dice);
        var given = Map.of("A", dice.pick("given", "*/?", "x y", "", "a".repeat(dice.size(3000))));
        var arguments = new BuildArguments(given, dice.pick("linux/amd64", "linux/arm/v7"));
        var input = new Case(
                texts.dockerfile(),
                texts.ignoreRules(),
                arguments,
                dice.oneIn(4) ? dice.pick("one", "0", "7", "ONE", "") : null);
        return deadlines.limit(seed, () -> read(input));
    }

    private Played read(Case input) throws IOException {
        try {
            String wrong = unequalByLineEnds(input.text());
            if (!wrong.isEmpty()) {
                return new Played("read", wrong, input.bytes(), new byte[0]);
            }
            return new Played("built", evaluate(input), input.bytes(), new byte[0]);
        } catch (DockerfileException e) {
            String message = String.valueOf(e.getMessage());
            return new Played("refused", misplaced(e, input), input.bytes(), message.getBytes(UTF_8));
        } catch (RuntimeException | StackOverflowError e) {
            return new Played("broke", "threw " + e + at(e), input.bytes(), new byte[0]);
        }
    }

    static String at(Throwable thrown) {
        var trace = thrown.getStackTrace();
        return trace.length == 0 ? "" : " at " + trace[0];
    }

    /// Lines may end with LF or CRLF, and mean the same.
    private static String unequalByLineEnds(String text) {
        if (text.indexOf('\r') >= 0) {
            return "";
        }
        var parsed = parsed(text);
        return parsed.equals(parsed(text.replace("\n", "\r\n"))) ? "" : "means something else with CRLF";
    }

    private static Object parsed(String text) {
        try {
            return Dockerfile.parse(text, FILE);
        } catch (DockerfileException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /// @return what is wrong, or empty
    private String evaluate(Case input) throws IOException {
        var rules = IgnoreRules.parse(input.ignore());
        for (String path : List.of("", "a", "dir/deep/er/e", "../x", "/", "ü", "a".repeat(4000))) {
            rules.ignores(path, true);
            rules.ignores(path, false);
        }
        var plan = Buildable.read(input.text(), FILE, input.arguments(), input.target());
        if (!plan.nodes().equals(StageGraph.plan(plan.dockerfile(), input.arguments(), input.target()))) {
            return "is planned otherwise the second time";
        }
        var files = BuildContext.of(context.directory(), rules);
        var evaluation = new Evaluation(plan.dockerfile(), input.arguments());
        var states = new HashMap<Integer, StageState>();
        for (var node : plan.nodes()) {
            var state = base(node, states);
            if (state == null) {
                return "stage %d comes before the stage that it is based on"
                        .formatted(node.stage().index());
            }
            for (var step : evaluation.walk(node.stage(), state)) {
                String wrong = select(step.instruction(), files);
                if (!wrong.isEmpty()) {
                    return wrong;
                }
                state = step.after();
            }
            StartCommand.of(state);
            StartCommand.readyOf(state);
            state.runEnvironment();
            states.put(node.stage().index(), state);
        }
        return "";
    }

    private static @Nullable StageState base(StageGraph.Node node, Map<Integer, StageState> states) {
        if (node.base() instanceof Origin.OfStage(int index)) {
            var base = states.get(index);
            return base == null ? null : base.asBase();
        }
        return StageState.withEnvironment(Map.of("PATH", "/bin"));
    }

    private String select(Instruction instruction, BuildContext files) throws IOException {
        return switch (instruction) {
            case Instruction.Copy copy
            when copy.from() == null -> context.wrong(files.select(copy.transfer(), FILE, copy.at()));
            case Instruction.Add add -> context.wrong(files.select(add.transfer(), FILE, add.at()));
            default -> "";
        };
    }

    /// Each problem is at a place that the text has.
    private static String misplaced(DockerfileException refusal, Case input) {
        for (var problem : refusal.problems()) {
            var lines = problem.file().equals(IGNORE_FILE)
                    ? input.ignore().lines().toList()
                    : List.of(input.text().split("\n", -1));
            int line = problem.at().line();
            boolean there = line >= 1 && line <= Math.max(1, lines.size());
            int length = there && !lines.isEmpty() ? lines.get(line - 1).length() : 0;
            if (!there || problem.at().column() < 1 || problem.at().column() > length + 1) {
                return "says that a problem is at %s, which the file does not have: %s"
                        .formatted(problem.at(), problem.what());
            }
        }
        return refusal.problems().isEmpty() ? "refused without a reason" : "";
    }

    @Override
    public String tidy() {
        return deadlines.overdue();
    }

    @Override
    public String settle() throws IOException {
        return context.changed();
    }

    @Override
    public void close() throws IOException {
        context.close();
    }
}
