package dev.cay.dockerfile;

import dev.cay.dockerfile.Instruction.Add;
import dev.cay.dockerfile.Instruction.Arg;
import dev.cay.dockerfile.Instruction.Assignment;
import dev.cay.dockerfile.Instruction.Cmd;
import dev.cay.dockerfile.Instruction.Copy;
import dev.cay.dockerfile.Instruction.Entrypoint;
import dev.cay.dockerfile.Instruction.Env;
import dev.cay.dockerfile.Instruction.Expose;
import dev.cay.dockerfile.Instruction.Healthcheck;
import dev.cay.dockerfile.Instruction.Label;
import dev.cay.dockerfile.Instruction.Maintainer;
import dev.cay.dockerfile.Instruction.Run;
import dev.cay.dockerfile.Instruction.Shell;
import dev.cay.dockerfile.Instruction.StopSignal;
import dev.cay.dockerfile.Instruction.User;
import dev.cay.dockerfile.Instruction.Volume;
import dev.cay.dockerfile.Instruction.Workdir;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Walks the stages of one build and expands their variables. All stages share one budget for expansions, so use one
/// instance for a build, on one thread.
public final class Evaluation {
    private static final int MOST_NAMES = 1000;

    private final String file;
    private final GlobalArguments globals;
    private final Expansion expansion;

    /// One instruction with variables expanded.
    ///
    /// @param before the state that the instruction sees
    /// @param after  the state that the next instruction sees
    public record Step(Instruction instruction, StageState before, StageState after) {}

    public Evaluation(Dockerfile dockerfile, BuildArguments arguments) {
        this.file = dockerfile.fileName();
        this.expansion = new Expansion(dockerfile.escape());
        this.globals = new GlobalArguments(dockerfile, arguments, expansion);
    }

    /// @param base the configuration of the image, or the last state of the stage, that this one is based on
    /// @throws DockerfileException with all problems of the stage
    public List<Step> walk(Stage stage, StageState base) {
        var problems = new Problems();
        var steps = new ArrayList<Step>();
        var state = base;
        boolean ownCommand = false;
        for (var instruction : stage.instructions()) {
            try {
                var resolved = resolve(instruction, state);
                var after = apply(resolved, state, ownCommand);
                ownCommand |= resolved instanceof Cmd;
                steps.add(new Step(resolved, state, after));
                state = after;
            } catch (DockerfileException e) {
                problems.add(e);
            }
        }
        problems.throwIfAny();
        return List.copyOf(steps);
    }

    private Instruction resolve(Instruction instruction, StageState state) {
        var resolved = new Resolution(file, expansion, state).of(instruction);
        return resolved instanceof Arg arg ? new Arg(arg.at(), arguments(arg.assignments())) : resolved;
    }

    private List<Assignment> arguments(List<Assignment> declared) {
        return declared.stream()
                .map(argument -> new Assignment(
                        argument.at(), argument.name(), globals.value(argument.name(), argument.value())))
                .toList();
    }

    private StageState apply(Instruction resolved, StageState state, boolean ownCommand) {
        var after = state.with(draft -> {
            switch (resolved) {
                case Run _, Copy _, Add _, Maintainer _ -> {}
                case Env env -> draft.setEnvironment(map(env.assignments()));
                case Arg arg -> draft.setArguments(map(arg.assignments()));
                case Label label -> draft.setLabels(map(label.assignments()));
                case Workdir workdir -> draft.workdir = workdir.path();
                case User user -> draft.user = user.user();
                case Shell shell -> draft.shell = shell.arguments();
                case Expose expose -> draft.addPorts(expose.ports());
                case Volume volume -> draft.addVolumes(volume.paths());
                case StopSignal signal -> draft.stopSignal = signal.signal();
                case Cmd cmd -> draft.command = program(cmd.command(), state);
                case Entrypoint entrypoint -> {
                    draft.entrypoint = program(entrypoint.command(), state);
                    // A command of the base image belongs to the entrypoint of the base image.
                    draft.command = ownCommand ? draft.command : null;
                }
                case Healthcheck check -> draft.health = health(check, state);
            }
        });
        checkSizes(resolved, after);
        return after;
    }

    private void checkSizes(Instruction instruction, StageState state) {
        int most = Math.max(
                Math.max(state.environment().size(), state.arguments().size()),
                Math.max(
                        state.labels().size(),
                        Math.max(state.ports().size(), state.volumes().size())));
        if (most > MOST_NAMES) {
            throw new DockerfileException(
                    file,
                    instruction.at(),
                    "the stage sets more than 1,000 variables, labels, ports or volumes",
                    "remove some of them");
        }
    }

    private static StageState.@Nullable Health health(Healthcheck check, StageState state) {
        return check.command() == null ? null : new StageState.Health(program(check.command(), state), check.timing());
    }

    private static List<String> program(CommandLine command, StageState state) {
        return switch (command) {
            case CommandLine.Exec(var arguments) -> arguments;
            case CommandLine.Shell(String text) -> withShell(text, state);
            case CommandLine.Script(String content) -> withShell(content, state);
        };
    }

    private static List<String> withShell(String text, StageState state) {
        var program = new ArrayList<>(state.shell());
        program.add(text);
        return program;
    }

    private static Map<String, String> map(List<Assignment> assignments) {
        var map = new LinkedHashMap<String, String>();
        for (var assignment : assignments) {
            if (assignment.value() != null) {
                map.put(assignment.name(), assignment.value());
            }
        }
        return map;
    }
}
