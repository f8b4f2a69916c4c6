package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.cay.testing.Fast;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Documents that name classes name those that are there.
@Fast
final class DocumentsTest {
    private static final Pattern CLASS_NAME = Pattern.compile("`([A-Z][a-z]+[A-Za-z]*)`");

    /// A link to a page or a heading of this repository, like `](limits.md#the-pool)`.
    private static final Pattern LINK = Pattern.compile("\\]\\(([\\w./-]*)(?:#([\\w-]+))?\\)");

    private static final Path ARCHITECTURE = Path.of("../docs/ARCHITECTURE.md");

    @Test
    void theArchitecturePageNamesOnlyClassesThatExist() throws Exception {
        Set<String> known = new ClassFileImporter()
                .importPackages("dev.cay").stream()
                        .map(JavaClass::getSimpleName)
                        .collect(Collectors.toSet());
        Set<String> missing = new TreeSet<>();
        var names = CLASS_NAME.matcher(Files.readString(ARCHITECTURE));
        while (names.find()) {
            if (!known.contains(names.group(1)) && !names.group(1).equals("CodeFont")) {
                missing.add(names.group(1));
            }
        }
        assertThat(missing).isEmpty();
    }

    @Test
    void linksBetweenPagesLeadToAPageAndAHeading() throws Exception {
        var broken = new TreeSet<String>();
        for (var page : pages()) {
            var links = LINK.matcher(Files.readString(page));
            while (links.find()) {
                var target = links.group(1).isEmpty()
                        ? page
                        : page.resolveSibling(links.group(1)).normalize();
                boolean leads = Files.exists(target)
                        && (links.group(2) == null || headings(target).contains(links.group(2)));
                if (!leads) {
                    broken.add("%s: %s".formatted(page, links.group()));
                }
            }
        }
        assertThat(broken).isEmpty();
    }

    private static List<Path> pages() throws IOException {
        try (var files = Files.walk(Path.of("../docs"))) {
            return Stream.concat(
                            Stream.of(Path.of("../README.md")),
                            files.filter(file -> file.toString().endsWith(".md")))
                    .toList();
        }
    }

    /// The headings of a page, as links name them.
    private static Set<String> headings(Path page) throws IOException {
        return Files.readString(page)
                .lines()
                .filter(line -> line.startsWith("#"))
                .map(line -> line.replaceFirst("#+ ", "")
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^a-z0-9 _-]", "")
                        .replace(' ', '-'))
                .collect(Collectors.toSet());
    }

    /// A launcher that users cloned is not on their PATH.
    @Test
    void commandsAreShownAsTheyAreTyped() throws Exception {
        try (var files = Files.walk(Path.of("../docs"))) {
            for (var file : files.filter(Files::isRegularFile)
                    .filter(path -> path.toString().matches(".*\\.(md|mjs|java)"))
                    .toList()) {
                assertThat(Files.readString(file))
                        .as("%s", file)
                        .doesNotContain("$(cay ", "$(sudo cay ", "\n    cay ", "\n    sudo cay ");
            }
        }
    }

    @Test
    void programsOnThePageAboutMcpAreWhole() throws Exception {
        var blocks =
                Pattern.compile("```js\n(.*?)```", Pattern.DOTALL).matcher(Files.readString(Path.of("../docs/mcp.md")));
        assertThat(blocks.results().map(block -> block.group(1)))
                .isNotEmpty()
                .allMatch(block -> !block.contains("Sandbox.") || block.contains("import { Sandbox } from"));
    }

    @Test
    void theExampleWithAModelSaysThatItNeedsOne(@TempDir Path directory) throws Exception {
        var client = Files.createDirectories(directory.resolve("node_modules/@e2b/code-interpreter"));
        Files.writeString(client.resolve("package.json"), "{\"type\": \"module\", \"exports\": \"./index.js\"}");
        Files.writeString(client.resolve("index.js"), "export class Sandbox {}");
        var program = Files.copy(Path.of("../docs/examples/tool-loop.mjs"), directory.resolve("tool-loop.mjs"));
        var builder = new ProcessBuilder("node", program.toString()).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("MODEL") || name.startsWith("E2B_"));
        var process = builder.start();
        var said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(2);
        assertThat(said).startsWith("MODEL_URL is not set").hasLineCount(1);
    }
}
