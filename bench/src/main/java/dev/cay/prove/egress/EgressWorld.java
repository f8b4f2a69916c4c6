package dev.cay.prove.egress;

import dev.cay.platform.OwnInternet;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// The lab's internet, and the results of the ways that were tried there.
public final class EgressWorld implements AutoCloseable {
    private static final Duration SIEGE = Duration.ofMinutes(30);
    private static final String NOT_TRIED = "not tried";

    private final OwnInternet internet;

    public EgressWorld() throws IOException {
        this.internet = new OwnInternet(Objects.requireNonNull(EgressWorld.class.getResourceAsStream("internet.py")));
    }

    /// Has a sandbox on this host try all ways.
    ///
    /// @return rows for the table, with whether each is as expected
    public List<Row> lay(Consumer<String> say) throws IOException, InterruptedException {
        var said = internet.directory().resolve("siege.log");
        var process = internet.java(
                EgressSiege.class, said, List.of(internet.directory().toString()));
        if (!process.waitFor(SIEGE.toSeconds(), TimeUnit.SECONDS) || process.exitValue() != 0) {
            throw new IOException("the siege broke off:\n" + tail(said));
        }
        var rows = rows(Files.readAllLines(said, StandardCharsets.UTF_8));
        rows.forEach(row -> say.accept(row.line()));
        return rows;
    }

    private static String tail(Path file) throws IOException {
        String all = Files.readString(file);
        return all.substring(Math.max(0, all.length() - 3000));
    }

    static List<Row> rows(List<String> lines) {
        var tried = new HashMap<Integer, List<String>>();
        var controls = new HashMap<Integer, String>();
        var allowed = new ArrayList<String>();
        for (String line : lines) {
            String[] words = line.split(" ", 3);
            if (words[0].equals("allowed")) {
                allowed.add(line.substring(words[0].length() + 1));
            } else if (words[0].equals("way") && words.length == 3) {
                tried.computeIfAbsent(Integer.parseInt(words[1]), _ -> new ArrayList<>())
                        .add(words[2]);
            } else if (words[0].equals("control") && words.length == 3) {
                controls.put(Integer.parseInt(words[1]), words[2]);
            }
        }
        var rows = new ArrayList<Row>();
        boolean reached = allowed.size() == 2 && allowed.stream().allMatch(EgressWorld::reached);
        rows.add(new Row("an allowed host", reached, "-", said(allowed, 0), said(allowed, 1)));
        for (int i = 0; i < Way.ALL.size(); i++) {
            rows.add(row(Way.ALL.get(i), tried.getOrDefault(i, List.of()), controls.getOrDefault(i, NOT_TRIED)));
        }
        return List.copyOf(rows);
    }

    private static Row row(Way way, List<String> tried, String control) {
        var reached = tried.stream().map(EgressWorld::reached).toList();
        boolean holds = switch (way.expected()) {
            case REFUSED -> reached.equals(List.of(true, false, false));
            case INSPECTED -> reached.equals(List.of(true, true, false));
            case NEVER, OPERATOR -> reached.equals(List.of(false, false, false)) && reached(control);
        };
        String open = switch (way.expected()) {
            case REFUSED, INSPECTED -> said(tried, 0);
            case NEVER -> said(tried, 0) + "; from the host: " + control;
            case OPERATOR -> said(tried, 0) + "; opened by the operator: " + control;
        };
        return new Row(way.title(), holds, open, said(tried, 1), said(tried, 2));
    }

    private static boolean reached(String text) {
        return text.startsWith("REACHED");
    }

    private static String said(List<String> all, int at) {
        return at < all.size() ? all.get(at).replace('|', '/') : NOT_TRIED;
    }

    /// A row of the table.
    ///
    /// @param open the result without rules
    public record Row(String title, boolean holds, String open, String ruled, String inspected) {
        /// The row in Markdown.
        public String line() {
            return "| %s | %s | %s | %s | %s |".formatted(title, open, ruled, inspected, holds ? "holds" : "**fails**");
        }
    }

    @Override
    public void close() {
        internet.close();
    }
}
