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
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// The internet that the proof takes place in, and what came of the ways that were tried there.
public final class EgressWorld implements AutoCloseable {
    private static final Duration SIEGE = Duration.ofMinutes(30);

    private final OwnInternet internet;

    public EgressWorld() throws IOException {
        this.internet = new OwnInternet(Objects.requireNonNull(EgressWorld.class.getResourceAsStream("internet.py")));
    }

    /// Lets a sandbox on this host try all ways.
    ///
    /// @return rows for the table, with whether each is as it must be
    public List<Row> lay(Consumer<String> say) throws IOException, InterruptedException {
        var said = internet.directory().resolve("siege.log");
        var process = internet.java(EgressSiege.class, said, List.of());
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
        var heard = new HashMap<Integer, List<String>>();
        var rows = new ArrayList<Row>();
        for (String line : lines) {
            String[] words = line.split(" ", 3);
            if (words[0].equals("control")) {
                rows.add(new Row("an allowed host", line.contains("REACHED"), "-", line.substring(8), "-"));
            } else if (words[0].equals("way") && words.length == 3) {
                heard.computeIfAbsent(Integer.parseInt(words[1]), _ -> new ArrayList<>())
                        .add(words[2]);
            }
        }
        for (int i = 0; i < Way.ALL.size(); i++) {
            rows.add(row(Way.ALL.get(i), heard));
        }
        return List.copyOf(rows);
    }

    private static Row row(Way way, Map<Integer, List<String>> heard) {
        var said = heard.getOrDefault(Way.ALL.indexOf(way), List.of("not tried", "not tried", "not tried"));
        var reached = said.stream().map(text -> text.startsWith("REACHED")).toList();
        boolean holds = switch (way.expected()) {
            case REFUSED -> reached.equals(List.of(true, false, false));
            case INSPECTED -> reached.equals(List.of(true, true, false));
            case NEVER -> reached.equals(List.of(false, false, false)) && !said.contains("not tried");
        };
        return new Row(way.title(), holds, said.get(0), said.get(1), said.get(2));
    }

    /// A row of the table.
    ///
    /// @param open what came of it without rules
    public record Row(String title, boolean holds, String open, String ruled, String inspected) {
        /// In Markdown.
        public String line() {
            return "| %s | %s | %s | %s | %s |".formatted(title, open, ruled, inspected, holds ? "holds" : "**fails**");
        }
    }

    @Override
    public void close() {
        internet.close();
    }
}
