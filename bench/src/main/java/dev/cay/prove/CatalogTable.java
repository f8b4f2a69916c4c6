package dev.cay.prove;

import dev.cay.node.mcp.catalog.Catalog;
import dev.cay.node.mcp.catalog.CatalogServer;
import dev.cay.node.mcp.catalog.ServerLaunch;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// What came of starting the servers of the catalog: the part of `docs/mcp.md` between two comments. The same servers
/// make the same text, whoever runs them, where and when.
record CatalogTable(List<Row> rows) {
    static final String PAGE = "docs/mcp.md";
    static final String BEGIN = "<!-- servers: written by `sudo ./cay prove catalog` -->";
    static final String END = "<!-- end of servers -->";

    private static final int LONGEST = 240;

    /// What the program itself said, or npm of its package, in the sentence that a gateway makes of it; of what was too
    /// long for that, the last.
    private static final Pattern OWN_WORDS = Pattern.compile(
            "(?s).*(?:it said last: .* … |it said last: |could not be installed \\()(.*?)(?:\\): check that.*)?");

    /// Addresses and places are those of whoever runs it.
    private static final Pattern ADDRESS = Pattern.compile("https?://[^\\s'\"<>)]+");
    private static final Pattern PLACE = Pattern.compile("(file://)?/(?:tmp|var|root)/[^\\s'\":,)]*");

    /// What Node shows of an error beside its message.
    private static final Pattern PROPERTIES = Pattern.compile("\\b(?:errno|code|syscall|hostname): [^\\s,}]*+,?|[{}]");

    /// @param program package and version
    /// @param reason  why it has no tools; empty if it has some
    record Row(String key, String program, int tools, String reason) {}

    CatalogTable {
        rows = rows.stream()
                .map(row -> new Row(row.key, row.program, row.tools, clean(row.reason)))
                .sorted(Comparator.comparing(Row::key))
                .toList();
    }

    private static String clean(String reason) {
        var words = OWN_WORDS.matcher(reason);
        String text = words.matches() ? words.group(1) : reason;
        text = ADDRESS.matcher(text).replaceAll("(address)");
        text = PLACE.matcher(text).replaceAll("(path)");
        text = PROPERTIES.matcher(text).replaceAll(" ");
        text = text.replaceAll("\\s+", " ")
                .replace("|", "/")
                .replace("<", "(")
                .replace(">", ")")
                .strip();
        return text.length() <= LONGEST ? text : text.substring(0, LONGEST).strip() + " …";
    }

    /// Those it is about.
    static List<CatalogServer> servers(Catalog catalog) {
        return catalog.servers().stream()
                .filter(server -> server.launch(ServerLaunch.Npm.class).isPresent())
                .toList();
    }

    long listing() {
        return rows.stream().filter(row -> row.tools > 0).count();
    }

    /// Those that have neither tools nor a reason.
    List<Row> unexplained() {
        return rows.stream()
                .filter(row -> row.tools == 0 && row.reason.isEmpty())
                .toList();
    }

    String summary() {
        return "%d of %d list their tools, %d in all"
                .formatted(
                        listing(),
                        rows.size(),
                        rows.stream().mapToInt(Row::tools).sum());
    }

    List<String> lines() {
        var head = Stream.of(
                summary() + ".", "", "| server | package | tools | what it said instead |", "|---|---|---|---|");
        return Stream.concat(head, rows.stream().map(CatalogTable::line)).toList();
    }

    private static String line(Row row) {
        return "| `%s` | `%s` | %s | %s |"
                .formatted(row.key, row.program, row.tools > 0 ? Integer.toString(row.tools) : "–", row.reason);
    }

    /// @param home the directory of the sources
    static void write(Path home, List<String> lines) throws IOException {
        var page = home.resolve(PAGE);
        var text = Files.readAllLines(page);
        var all = new ArrayList<>(text.subList(0, place(text, BEGIN) + 1));
        all.addAll(lines);
        all.addAll(text.subList(place(text, END), text.size()));
        Files.write(page, all);
    }

    /// What stands there now.
    static List<String> read(Path home) throws IOException {
        var text = Files.readAllLines(home.resolve(PAGE));
        return text.subList(place(text, BEGIN) + 1, place(text, END));
    }

    private static int place(List<String> text, String line) {
        int place = text.indexOf(line);
        if (place < 0) {
            throw new CayException(ErrorKind.CONFLICT, "%s has no line %s".formatted(PAGE, line));
        }
        return place;
    }
}
