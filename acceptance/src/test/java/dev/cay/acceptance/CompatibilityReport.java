package dev.cay.acceptance;

import dev.cay.acceptance.ClientTests.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Which calls work with which client, as the run found it. Written to `target/compatibility.md`; the copy in `docs/`
/// is checked against it.
final class CompatibilityReport {
    private final List<String> versions;
    private final Map<String, Map<String, Map<String, Boolean>>> found = new LinkedHashMap<>();

    CompatibilityReport(List<String> versions) {
        this.versions = versions;
    }

    void add(String version, String file, List<Result> results) {
        var cases = found.computeIfAbsent(file.replace(".test.mjs", ""), _ -> new LinkedHashMap<>());
        for (var result : results) {
            if (!result.skipped()) {
                cases.computeIfAbsent(result.name(), _ -> new TreeMap<>())
                        .merge(version, result.passed(), Boolean::logicalAnd);
            }
        }
    }

    void write() throws IOException {
        Files.createDirectories(Path.of("target"));
        Files.writeString(Path.of("target/compatibility.md"), render());
    }

    private String render() {
        var text = new StringBuilder("""
                # What works with E2B's clients

                Found by the acceptance run, with the packages from the npm registry as they are, over TLS host names and over
                plain URLs; a cell says yes only if both ways passed. `–`: that version has no such call.

                """);
        found.forEach((area, cases) -> {
            text.append("## ").append(area).append("\n\n| case | ");
            versions.forEach(version -> text.append("e2b ").append(version).append(" | "));
            text.append("\n|---|").append("---|".repeat(versions.size())).append('\n');
            cases.forEach((name, passed) -> {
                text.append("| ").append(name).append(" |");
                versions.forEach(version -> text.append(cell(passed.get(version))));
                text.append('\n');
            });
            text.append('\n');
        });
        return text.toString();
    }

    private static String cell(@org.jspecify.annotations.Nullable Boolean passed) {
        if (passed == null) {
            return " – |";
        }
        return passed ? " yes |" : " **no** |";
    }
}
