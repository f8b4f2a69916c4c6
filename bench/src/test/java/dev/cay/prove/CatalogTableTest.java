package dev.cay.prove;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.mcp.catalog.Catalog;
import dev.cay.node.mcp.catalog.ServerLaunch;
import dev.cay.prove.CatalogTable.Row;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class CatalogTableTest {
    private static final Pattern LINE = Pattern.compile("\\| `(\\w+)` \\| `(\\S+ \\S+)` \\| (\\d+|–) \\| (.*) \\|");

    /// Who changes a package in the catalog must run `sudo ./cay prove catalog`.
    @Test
    void theDocumentHasARowForEveryServerAndCountsThem() throws Exception {
        var there = CatalogTable.read(Path.of(".."));
        var rows = there.stream()
                .map(LINE::matcher)
                .filter(row -> row.matches())
                .map(row -> new Row(
                        row.group(1),
                        row.group(2),
                        row.group(3).equals("–") ? 0 : Integer.parseInt(row.group(3)),
                        row.group(4)))
                .toList();
        assertThat(rows.stream().map(row -> row.key() + " " + row.program()))
                .containsExactlyInAnyOrderElementsOf(CatalogTable.servers(Catalog.builtIn()).stream()
                        .map(server -> {
                            var npm = server.launch(ServerLaunch.Npm.class).orElseThrow();
                            return "%s %s %s".formatted(server.key(), npm.packageName(), npm.version());
                        })
                        .toList());
        var table = new CatalogTable(rows);
        assertThat(there).isEqualTo(table.lines());
        assertThat(table.unexplained()).isEmpty();
        assertThat(table.listing()).isGreaterThanOrEqualTo(30);
    }

    @Test
    void tellsWhatTheProgramSaidAndNothingOfWhereItRan() {
        var table = new CatalogTable(List.of(
                new Row(
                        "d",
                        "four 4.0.0",
                        0,
                        "d did not answer within 30 s; it said last: chatter … it waits {  code: 'A', errno: -3 }"),
                new Row(
                        "c",
                        "three 3.0.0",
                        0,
                        "package c could not be installed (npm error gone): check that this host"),
                new Row(
                        "b",
                        "two 2.0.0",
                        0,
                        "b ended: server b ended (exit status 1); it said last: no\n  <key> | in"
                                + " /tmp/cay-own-7/b.js:3 (http://127.0.0.1:8080/b)"),
                new Row("a", "one 1.0.0", 7, "")));
        assertThat(table.lines())
                .containsExactly(
                        "1 of 4 list their tools, 7 in all.",
                        "",
                        "| server | package | tools | what it said instead |",
                        "|---|---|---|---|",
                        "| `a` | `one 1.0.0` | 7 |  |",
                        "| `b` | `two 2.0.0` | – | no (key) / in (path):3 ((address)) |",
                        "| `c` | `three 3.0.0` | – | npm error gone |",
                        "| `d` | `four 4.0.0` | – | it waits |");
    }

    @Test
    void replacesWhatStandsBetweenTheComments(@TempDir Path home) throws Exception {
        var page = Files.createDirectories(home.resolve("docs")).resolve("mcp.md");
        Files.write(page, List.of("before", CatalogTable.BEGIN, "old", CatalogTable.END, "after"));
        for (int twice = 0; twice < 2; twice++) {
            CatalogTable.write(home, List.of("new", "lines"));
            assertThat(page)
                    .hasContent(String.join(
                            "\n", "before", CatalogTable.BEGIN, "new", "lines", CatalogTable.END, "after", ""));
        }
        assertThat(CatalogTable.read(home)).containsExactly("new", "lines");
        Files.write(page, List.of("before"));
        assertThatThrownBy(() -> CatalogTable.read(home))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("docs/mcp.md has no line");
    }
}
