package dev.cay.prove;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.mcp.catalog.Catalog;
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
    private static final Pattern LINE =
            Pattern.compile("\\| `(\\w+)` \\| `([^`]+)` \\| (\\d+|stand-in|–) \\| (.*) \\|");

    /// Who changes a way in the catalog must run `sudo ./cay prove catalog`.
    @Test
    void theDocumentHasARowForEveryWayAndCountsThem() throws Exception {
        var there = CatalogTable.read(Path.of(".."));
        var rows = there.stream()
                .map(LINE::matcher)
                .filter(row -> row.matches())
                .map(row -> new Row(row.group(1), row.group(2), tools(row.group(3)), row.group(4)))
                .toList();
        assertThat(rows.stream().map(row -> row.key() + " " + row.way()))
                .containsExactlyInAnyOrderElementsOf(Catalog.builtIn().servers().stream()
                        .flatMap(server ->
                                server.ways().stream().map(way -> server.key() + " " + CatalogTable.way(way.launch())))
                        .toList());
        var table = new CatalogTable(rows);
        assertThat(there).isEqualTo(table.lines());
        assertThat(table.broken()).isEmpty();
        assertThat(table.listing()).isGreaterThanOrEqualTo(40);
    }

    private static int tools(String shown) {
        return switch (shown) {
            case "–" -> 0;
            case CatalogTable.STAND_IN -> 1;
            default -> Integer.parseInt(shown);
        };
    }

    @Test
    void tellsWhatTheProgramSaidAndNothingOfWhereItRan() {
        var table = new CatalogTable(List.of(
                new Row(
                        "d",
                        "npm four 4.0.0",
                        0,
                        "d did not answer within 30 s; it said last: chatter … it waits {  code: 'A', errno: -3 }"),
                new Row(
                        "c",
                        "npm three 3.0.0",
                        0,
                        "package c could not be installed (npm error gone): check that this host"),
                new Row(
                        "b",
                        "npm two 2.0.0",
                        0,
                        "b ended: server b ended (exit status 1); it said last: no\n  <key> | in"
                                + " /tmp/cay-own-7/b.js:3 (http://127.0.0.1:8080/b)"),
                new Row("a", "remote a.example.org", 1, ""),
                new Row("a", "image mcp/a", 0, "it does not have the variable A"),
                new Row("a", "npm one 1.0.0", 7, "")));
        assertThat(table.broken()).extracting(Row::way).containsExactly("image mcp/a");
        assertThat(table.lines())
                .containsExactly(
                        "4 servers; 1 of 4 npm packages list their tools, 7 in all; 0 of 1 images start by stand-ins;"
                                + " 1 of 1 remote servers are spoken to by stand-ins.",
                        "",
                        "| server | way | tools | what it said instead |",
                        "|---|---|---|---|",
                        "| `a` | `image mcp/a` | – | it does not have the variable A |",
                        "| `a` | `npm one 1.0.0` | 7 |  |",
                        "| `a` | `remote a.example.org` | stand-in |  |",
                        "| `b` | `npm two 2.0.0` | – | no (key) / in (path):3 ((address)) |",
                        "| `c` | `npm three 3.0.0` | – | npm error gone |",
                        "| `d` | `npm four 4.0.0` | – | it waits |");
    }

    @Test
    void replacesWhatStandsBetweenTheComments(@TempDir Path home) throws Exception {
        var page = Files.createDirectories(home.resolve("docs")).resolve("mcp-catalog.md");
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
                .hasMessageContaining("docs/mcp-catalog.md has no line");
    }
}
