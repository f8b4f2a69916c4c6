package dev.cay.prove;

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

/// What came of starting the servers of the catalog: the part of `docs/mcp-catalog.md` between two comments. The
/// same servers make the same text, whoever runs them, where and when.
record CatalogTable(List<Row> rows) {
    static final String PAGE = "docs/mcp-catalog.md";
    static final String BEGIN = "<!-- servers: written by `sudo ./cay prove catalog` -->";
    static final String END = "<!-- end of servers -->";

    static final String STAND_IN = "stand-in";

    private static final int LONGEST = 240;
    private static final Pattern HOST = Pattern.compile("^https?://([^/$:]+)");

    /// What the program itself said, or npm of its package, in the sentence that a gateway makes of it; of what was too
    /// long for that, the last.
    private static final Pattern OWN_WORDS = Pattern.compile(
            "(?s).*(?:it said last: .* … |it said last: |could not be installed \\()(.*?)(?:\\): check that.*)?");

    /// Addresses and places are those of whoever runs it.
    private static final Pattern ADDRESS = Pattern.compile("https?://[^\\s'\"<>)]+");
    private static final Pattern PLACE = Pattern.compile("(file://)?/(?:tmp|var|root)/[^\\s'\":,)]*");

    /// What Node shows of an error beside its message.
    private static final Pattern PROPERTIES = Pattern.compile("\\b(?:errno|code|syscall|hostname): [^\\s,}]*+,?|[{}]");

    /// One way of a server.
    ///
    /// @param way    the word and what it leads to, like `npm @scope/name 1.2.3`
    /// @param tools  how many it lists
    /// @param reason why it lists none; empty if it lists some
    record Row(String key, String way, int tools, String reason) {
        private boolean isNpm() {
            return way.startsWith("npm ");
        }
    }

    CatalogTable {
        rows = rows.stream()
                .map(row -> new Row(row.key, row.way, row.tools, clean(row.reason)))
                .sorted(Comparator.comparing(Row::key).thenComparing(Row::way))
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

    /// The way and what it leads to, as the catalog has it.
    static String way(ServerLaunch launch) {
        return launch.word()
                + " "
                + switch (launch) {
                    case ServerLaunch.Npm npm -> npm.packageName() + " " + npm.version();
                    case ServerLaunch.Image image -> image.reference();
                    case ServerLaunch.Remote remote -> host(remote.url().text());
                    case ServerLaunch.Command command ->
                        command.line().getFirst().text();
                };
    }

    private static String host(String url) {
        var host = HOST.matcher(url);
        return host.find() ? host.group(1) : "as the options say";
    }

    /// Real packages that list their tools.
    long listing() {
        return rows.stream().filter(row -> row.isNpm() && row.tools > 0).count();
    }

    /// Those that have neither tools nor a reason, and stand-ins that did not work.
    List<Row> broken() {
        return rows.stream()
                .filter(row -> row.tools == 0 && (row.reason.isEmpty() || !row.isNpm()))
                .toList();
    }

    String summary() {
        return "%d servers; %d of %d npm packages list their tools, %d in all; %s; %s"
                .formatted(
                        rows.stream().map(Row::key).distinct().count(),
                        listing(),
                        rows.stream().filter(Row::isNpm).count(),
                        rows.stream().filter(Row::isNpm).mapToInt(Row::tools).sum(),
                        standIns("image", "images start"),
                        standIns("remote", "remote servers are spoken to"));
    }

    private String standIns(String word, String what) {
        var all = rows.stream().filter(row -> row.way.startsWith(word + " ")).toList();
        return "%d of %d %s by stand-ins"
                .formatted(all.stream().filter(row -> row.tools > 0).count(), all.size(), what);
    }

    List<String> lines() {
        var head =
                Stream.of(summary() + ".", "", "| server | way | tools | what it said instead |", "|---|---|---|---|");
        return Stream.concat(head, rows.stream().map(CatalogTable::line)).toList();
    }

    private static String line(Row row) {
        String tools = row.tools == 0 ? "–" : row.isNpm() ? Integer.toString(row.tools) : STAND_IN;
        return "| `%s` | `%s` | %s | %s |".formatted(row.key, row.way, tools, row.reason);
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
