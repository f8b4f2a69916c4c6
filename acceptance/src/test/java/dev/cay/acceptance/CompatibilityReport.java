package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.acceptance.ClientTests.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Which calls work with which versions of one client, as the run found it. Written to `target/compatibility/`;
/// the page in `docs/` has the parts of all clients and is checked against them.
final class CompatibilityReport {
    private static final Path DIRECTORY = Path.of("target/compatibility");

    /// A part of the page for every client.
    enum Part {
        E2B("e2b", """
                # What works with E2B's clients

                Found by the acceptance run, with the packages from the npm registry as they are. Every version ran the cases over
                TLS host names, the newest also the deep ones: long cases about what Cay does behind calls that other cases make, too. Over plain
                URLs the newest ran them all again, 2.30.1 and 2.9.0 those about sandboxes, commands, files and ports; a cell says yes only if both ways
                passed. 1.9.0 knows no variables for URLs, as no client before 2.7.0 does. `–`: that version has no such call, the case is about newer
                ones, or it is a deep one.

                E2B's own dashboard is not on npm, so it was not run. The routes that it asks are served and tested: those of the API, and at
                `https://dashboard-api.DOMAIN:8443`, or below `/dashboard-api` of the API port (`NEXT_PUBLIC_DASHBOARD_API_URL`), health, builds,
                templates, their tags, and limits and status of a team ([list](api.md#e2bs-dashboard)). Cay keeps no history of tags, so each has one
                assignment; it blocks and bans no teams, so those two of the operator's routes answer 501.

                """),
        INTERPRETER("@e2b/code-interpreter", """
                # What works with the code interpreter's client

                Found in the same way: the newest ran all cases over TLS host names, and suite and clients over plain URLs, too. 2.0.1
                ran over TLS host names what depends on the client, and not the deep cases, nor languages, life, ondemand and extremes, which depend on
                the runners.
                What is said on the wire was looked at with no client between.

                """);

        private final String client;
        private final String introduction;

        Part(String client, String introduction) {
            this.client = client;
            this.introduction = introduction;
        }
    }

    private final Part part;
    private final Set<String> versions = new LinkedHashSet<>();
    private final Map<String, Map<String, Map<String, Boolean>>> cases = new LinkedHashMap<>();
    private final Map<String, Map<String, Boolean>> methods = new TreeMap<>();

    CompatibilityReport(Part part) {
        this.part = part;
    }

    void add(String version, String file, List<Result> results) {
        versions.add(version);
        var area = cases.computeIfAbsent(file.replace(".test.mjs", ""), _ -> new LinkedHashMap<>());
        for (var result : results) {
            if (!result.skipped()) {
                note(area, result.name(), version, result.passed());
                result.covers().forEach(method -> note(methods, method, version, result.passed()));
            }
        }
    }

    private static void note(Map<String, Map<String, Boolean>> table, String row, String version, boolean passed) {
        table.computeIfAbsent(row, _ -> new TreeMap<>()).merge(version, passed, Boolean::logicalAnd);
    }

    void write() throws IOException {
        Files.createDirectories(DIRECTORY);
        Files.writeString(DIRECTORY.resolve("%d.md".formatted(part.ordinal())), render());
    }

    /// The page as it is named from the project's directory.
    String page() {
        return "docs/compatibility.md";
    }

    /// A page that says something else than the run that is just over must not be believed.
    void requireOnPage() throws IOException {
        assertThat(Files.readString(Path.of("..", page())))
                .as("%s; bring it up to date: cat acceptance/target/compatibility/*.md > %s", part.client, page())
                .contains(render());
    }

    private String render() {
        var text = new StringBuilder(part.introduction);
        append(text, "Public methods", "method", methods);
        cases.forEach((area, rows) -> append(text, area, "case", rows));
        return text.toString();
    }

    private void append(StringBuilder text, String title, String what, Map<String, Map<String, Boolean>> rows) {
        text.append("## ").append(title).append("\n\n| ").append(what).append(" | ");
        versions.forEach(
                version -> text.append(part.client).append(' ').append(version).append(" | "));
        text.append("\n|---|").append("---|".repeat(versions.size())).append('\n');
        rows.forEach((name, passed) -> {
            text.append("| ").append(name).append(" |");
            versions.forEach(version -> text.append(cell(passed.get(version))));
            text.append('\n');
        });
        text.append('\n');
    }

    private static String cell(@Nullable Boolean passed) {
        if (passed == null) {
            return " – |";
        }
        return passed ? " yes |" : " **no** |";
    }
}
