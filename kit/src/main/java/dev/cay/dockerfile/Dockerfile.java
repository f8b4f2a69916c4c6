package dev.cay.dockerfile;

import dev.cay.dockerfile.Instruction.Arg;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A Dockerfile as it is written: variables are not expanded yet.
///
/// @param fileName  for messages
/// @param escape    a backslash, or a backtick by the directive `escape`
/// @param arguments the ARGs before the first FROM
public record Dockerfile(String fileName, char escape, List<Arg> arguments, List<Stage> stages) {
    public Dockerfile {
        arguments = List.copyOf(arguments);
        stages = List.copyOf(stages);
    }

    /// @throws DockerfileException with all problems of the file, at most one for each instruction
    public static Dockerfile parse(String text, String fileName) {
        var read = LineReader.read(text, fileName);
        var parsing = new Parsing(fileName, read.escape());
        read.lines().forEach(parsing::add);
        return parsing.finish();
    }

    /// The parts of the file that were read so far.
    private static final class Parsing {
        private final String fileName;
        private final char escape;
        private final Problems problems = new Problems();
        private final List<Arg> arguments = new ArrayList<>();
        private final List<Stage> stages = new ArrayList<>();
        private final Map<String, Stage> named = new HashMap<>();
        private final List<Instruction> instructions = new ArrayList<>();
        private @Nullable Stage current;
        private boolean begun;

        Parsing(String fileName, char escape) {
            this.fileName = fileName;
            this.escape = escape;
        }

        void add(LogicalLine line) {
            try {
                read(line);
            } catch (DockerfileException e) {
                problems.add(e);
            }
        }

        private void read(LogicalLine line) {
            var operands = new Operands(line, escape);
            if (operands.name().equals("FROM")) {
                endStage();
                begun = true;
                current = FromParser.parse(operands, stages.size());
                checkName(current);
                return;
            }
            var instruction = InstructionParser.parse(operands);
            if (line.text().indexOf('$') < 0 && line.heredocs().isEmpty()) {
                // Without variables, the checks of values can be made before a build.
                new Resolution(fileName, new Expansion(escape), StageState.empty()).of(instruction);
            }
            if (begun) {
                instructions.add(instruction);
            } else if (instruction instanceof Arg arg) {
                arguments.add(arg);
            } else {
                throw operands.problem(
                        0, "%s before the first FROM".formatted(operands.name()), "begin the file with FROM image");
            }
        }

        private void checkName(Stage stage) {
            var first = stage.name() == null ? null : named.putIfAbsent(stage.name(), stage);
            if (first != null) {
                throw new DockerfileException(
                        fileName,
                        stage.at(),
                        "the stage %s exists already, on line %d"
                                .formatted(stage.name(), first.at().line()),
                        "give it another name");
            }
        }

        private void endStage() {
            if (current != null) {
                stages.add(new Stage(
                        current.at(),
                        current.index(),
                        current.name(),
                        current.base(),
                        current.platform(),
                        instructions));
            }
            current = null;
            instructions.clear();
        }

        Dockerfile finish() {
            endStage();
            problems.throwIfAny();
            if (stages.isEmpty()) {
                throw new DockerfileException(
                        fileName, new Position(1, 1), "the file has no FROM", "begin it with FROM image");
            }
            return new Dockerfile(fileName, escape, arguments, stages);
        }
    }
}
