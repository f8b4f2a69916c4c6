package dev.cay.dockerfile;

import dev.cay.config.Suggestion;
import dev.cay.dockerfile.Instruction.Assignment;
import dev.cay.dockerfile.Words.Word;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/// Makes an instruction of its text. FROM is not an instruction of a stage; {@link FromParser} reads it.
final class InstructionParser {
    /// The frequent ones first: of two that are equally near to a wrong name, the first is suggested.
    private static final List<String> NAMES = List.of(
            "RUN",
            "COPY",
            "FROM",
            "ENV",
            "WORKDIR",
            "CMD",
            "ARG",
            "EXPOSE",
            "ENTRYPOINT",
            "USER",
            "ADD",
            "LABEL",
            "HEALTHCHECK",
            "VOLUME",
            "SHELL",
            "STOPSIGNAL",
            "MAINTAINER",
            "ONBUILD");
    private static final Pattern SIGNAL = Pattern.compile("(?i)(SIG)?[A-Z][A-Z0-9+-]{0,15}|[1-9][0-9]?|.*\\$.*");
    private static final Pattern WINDOWS_PATH = Pattern.compile("[A-Za-z]:[\\\\/].*");

    private final Operands operands;

    private InstructionParser(Operands operands) {
        this.operands = operands;
    }

    static Instruction parse(Operands operands) {
        return new InstructionParser(operands).instruction();
    }

    private Instruction instruction() {
        return switch (operands.name()) {
            case "RUN" -> RunParser.parse(operands);
            case "COPY" -> CopyParser.copy(operands);
            case "ADD" -> CopyParser.add(operands);
            case "HEALTHCHECK" -> HealthParser.parse(operands);
            case "ENV" -> new Instruction.Env(operands.at(), assignments());
            case "LABEL" -> new Instruction.Label(operands.at(), assignments());
            case "ARG" -> new Instruction.Arg(operands.at(), arguments());
            case "WORKDIR" -> new Instruction.Workdir(operands.at(), path());
            case "USER" -> new Instruction.User(operands.at(), line("app or 1000:1000"));
            case "CMD" -> new Instruction.Cmd(operands.at(), command());
            case "ENTRYPOINT" -> new Instruction.Entrypoint(operands.at(), command());
            case "EXPOSE" -> new Instruction.Expose(operands.at(), texts(words("8080 or 53/udp")));
            case "VOLUME" -> new Instruction.Volume(operands.at(), volumes());
            case "SHELL" -> new Instruction.Shell(operands.at(), shell());
            case "STOPSIGNAL" -> new Instruction.StopSignal(operands.at(), signal());
            case "MAINTAINER" -> new Instruction.Maintainer(operands.at(), maintainer());
            case "ONBUILD" ->
                throw operands.problem(
                        0,
                        "ONBUILD is not supported: no other image is built from this one",
                        "write the instruction without ONBUILD where it is needed");
            default -> throw unknown();
        };
    }

    private DockerfileException unknown() {
        String name = Excerpt.of(operands.name());
        String fix = Suggestion.of(name, NAMES)
                .map(near -> "did you mean " + near + "?")
                .orElse("a line that continues the one before needs a \\ at the end of that one");
        return operands.problem(0, "unknown instruction " + name, fix);
    }

    private void noFlags() {
        operands.allow(Set.of(), Set.of());
    }

    /// The rest of the line as one value.
    private String line(String example) {
        noFlags();
        String text = operands.text();
        if (text.isEmpty()) {
            throw nothing(example);
        }
        operands.checkVariables(text, operands.start());
        return text;
    }

    /// Variables and quotes have no meaning here.
    private String maintainer() {
        noFlags();
        if (operands.text().isEmpty()) {
            throw nothing("a name");
        }
        return operands.text();
    }

    private List<Word> words(String example) {
        noFlags();
        var words = operands.words();
        if (words.isEmpty()) {
            throw nothing(example);
        }
        words.forEach(operands::checkVariables);
        return words;
    }

    private static List<String> texts(List<Word> words) {
        return words.stream().map(Word::text).toList();
    }

    private DockerfileException nothing(String example) {
        return operands.problem(
                0, operands.name() + " has no value", "write %s %s".formatted(operands.name(), example));
    }

    private String path() {
        String path = line("/app");
        if (WINDOWS_PATH.matcher(path).matches()) {
            throw operands.problem(operands.start(), "a path of Windows", "write a path like /app");
        }
        return path;
    }

    private String signal() {
        String signal = line("SIGTERM");
        if (!SIGNAL.matcher(signal).matches()) {
            throw operands.problem(
                    operands.start(), "%s is no signal".formatted(Excerpt.of(signal)), "write STOPSIGNAL SIGTERM");
        }
        return signal;
    }

    private List<String> volumes() {
        noFlags();
        var json = operands.json();
        if (json.isEmpty()) {
            return texts(words("/data"));
        }
        if (json.get().isEmpty()) {
            throw nothing("/data");
        }
        json.get().forEach(path -> operands.checkVariables(path, operands.start()));
        return json.get();
    }

    private List<String> shell() {
        noFlags();
        var json = operands.json();
        if (json.isEmpty() || json.get().isEmpty()) {
            throw operands.problem(0, "SHELL takes a JSON array", "write SHELL [\"/bin/bash\", \"-c\"]");
        }
        return json.get();
    }

    /// An empty CMD or ENTRYPOINT is valid: it removes the one of the base image.
    private CommandLine command() {
        noFlags();
        var json = operands.json();
        if (json.isPresent()) {
            return new CommandLine.Exec(json.get());
        }
        String text = operands.text();
        return text.isEmpty() ? new CommandLine.Exec(List.of()) : new CommandLine.Shell(text);
    }

    /// `NAME=value NAME=value`, or the older `NAME value with spaces`.
    private List<Assignment> assignments() {
        noFlags();
        var words = operands.quotedWords();
        if (words.isEmpty()) {
            throw nothing("NAME=value");
        }
        if (words.getFirst().text().indexOf('=') < 0) {
            return List.of(older(words));
        }
        var assignments = new ArrayList<Assignment>();
        for (var word : words) {
            int equals = word.text().indexOf('=');
            if (equals < 0) {
                throw operands.problem(
                        word.offset(),
                        "%s has no =".formatted(Excerpt.of(word.text())),
                        "write NAME=value, and quotes around a value with spaces");
            }
            assignments.add(assignment(word, equals));
        }
        return assignments;
    }

    private Assignment assignment(Word word, int equals) {
        if (equals == 0) {
            throw operands.problem(word.offset(), "= without a name", "write NAME=value without spaces around =");
        }
        operands.checkVariables(word);
        return new Assignment(
                operands.at(word.offset()),
                word.text().substring(0, equals),
                word.text().substring(equals + 1));
    }

    private Assignment older(List<Word> words) {
        var name = operands.words().getFirst();
        if (words.size() < 2 && operands.words().size() < 2) {
            throw operands.problem(
                    name.offset(), "%s has no value".formatted(Excerpt.of(name.text())), "write NAME=value");
        }
        String rest = operands.text().substring(name.text().length());
        String value = rest.stripLeading();
        int offset = name.end() + rest.length() - value.length();
        operands.checkVariables(name);
        operands.checkVariables(value, offset);
        return new Assignment(operands.at(name.offset()), name.text(), value);
    }

    private List<Assignment> arguments() {
        noFlags();
        var words = operands.quotedWords();
        if (words.isEmpty()) {
            throw nothing("NAME or ARG NAME=default");
        }
        var arguments = new ArrayList<Assignment>();
        for (var word : words) {
            int equals = word.text().indexOf('=');
            operands.checkVariables(word);
            arguments.add(
                    equals < 0
                            ? new Assignment(operands.at(word.offset()), word.text(), null)
                            : assignment(word, equals));
        }
        return arguments;
    }
}
