package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/// Commands as pages and helps show them are ones that `cay` takes, and every command explains itself.
@Fast
final class DocumentedCommandsTest {
    private static final Path HOME = Path.of("").toAbsolutePath().getParent();

    /// The launcher knows these by itself.
    private static final Set<String> LAUNCHERS = Set.of("test", "build", "sdk", "help", "");

    /// Up to what ends a command in a shell, in Markdown, or in a sentence.
    private static final Pattern COMMAND = Pattern.compile("(?:^|[\\s`(\"])(?:sudo )?\\./cay ([^|`;)<>\\n]*)");

    private static final Pattern WORD = Pattern.compile("'([^']*)'|\"([^\"]*)\"|(\\S+)");

    private record Shown(String where, String words) {
        @Override
        public String toString() {
            return where + ": " + words;
        }
    }

    private static Stream<Shown> shown() throws IOException {
        var all = new ArrayList<Shown>();
        try (var pages = Files.walk(HOME.resolve("docs"))) {
            for (Path page : pages.filter(each -> each.toString().endsWith(".md"))
                    .sorted()
                    .toList()) {
                find(HOME.relativize(page).toString(), Files.readString(page), all);
            }
        }
        find("README.md", Files.readString(HOME.resolve("README.md")), all);
        for (var command : commands()) {
            for (String line : command.getCommandSpec().usageMessage().footer()) {
                find(command.getCommandSpec().qualifiedName() + " --help", line, all);
            }
        }
        return all.stream();
    }

    private static void find(String where, String text, List<Shown> all) {
        for (String line : text.split("\n")) {
            var commands = COMMAND.matcher(line.replaceAll("(^| )# .*", ""));
            while (commands.find()) {
                all.add(new Shown(where, commands.group(1).strip()));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("shown")
    void aCommandThatIsShownIsTaken(Shown shown) {
        var words = new ArrayList<String>();
        var found = WORD.matcher(shown.words().replaceAll("[.,:]$", ""));
        while (found.find()) {
            String word = found.group(found.group(1) != null ? 1 : found.group(2) != null ? 2 : 3);
            // An option whose value the page leaves open, and the end of an example.
            if (!word.equals("...") && !word.equals("\\")) {
                words.add(word);
            }
        }
        if (words.isEmpty()
                || LAUNCHERS.contains(words.getFirst())
                || words.getFirst().startsWith("-")) {
            return;
        }
        // A page also names groups of commands, and commands whose rest it has named before.
        try {
            Main.commandLine().parseArgs(words.toArray(String[]::new));
        } catch (CommandLine.MissingParameterException | CommandLine.MissingTypeConverterException incomplete) {
            assertThat(incomplete.getCommandLine().getCommandSpec().qualifiedName())
                    .as(shown.toString())
                    .isNotEqualTo("cay");
        } catch (ParameterException e) {
            throw new AssertionError(shown + ": " + e.getMessage(), e);
        }
    }

    private static List<CommandLine> commands() {
        var all = new ArrayList<CommandLine>();
        add(Main.commandLine(), all);
        return all;
    }

    private static void add(CommandLine command, List<CommandLine> all) {
        if (command.getCommandSpec().usageMessage().hidden()) {
            return;
        }
        all.add(command);
        command.getSubcommands().values().forEach(below -> add(below, all));
    }

    @Test
    void everyCommandExplainsItselfAndItsOptions() {
        for (var command : commands()) {
            var spec = command.getCommandSpec();
            var out = new StringWriter();
            var words = words(command);
            words.add("--help");
            assertThat(Main.commandLine().setOut(new PrintWriter(out, true)).execute(words.toArray(String[]::new)))
                    .as("%s", words)
                    .isZero();
            assertThat(out.toString()).as("%s", words).contains("Usage: " + spec.qualifiedName());
            assertThat(spec.usageMessage().description())
                    .as(spec.qualifiedName())
                    .isNotEmpty();
            for (var option : spec.options()) {
                assertThat(option.description())
                        .as(spec.qualifiedName() + " " + option.longestName())
                        .isNotEmpty();
            }
            for (var parameter : spec.positionalParameters()) {
                assertThat(parameter.description())
                        .as(spec.qualifiedName() + " " + parameter.paramLabel())
                        .isNotEmpty();
            }
        }
    }

    private static List<String> words(CommandLine command) {
        var words =
                new ArrayList<>(List.of(command.getCommandSpec().qualifiedName().split(" ")));
        words.removeFirst();
        return words;
    }

    @Test
    void aMistypedCommandOrOptionIsRefusedWithTheCodeOfShells() {
        assertThat(Main.run("nothing")).isEqualTo(Main.USAGE);
        for (var command : commands()) {
            var words = words(command);
            words.add("--no-such-option");
            assertThat(Main.run(words.toArray(String[]::new))).as("%s", words).isEqualTo(Main.USAGE);
        }
    }
}
