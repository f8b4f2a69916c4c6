package dev.cay.prove.fuzz;

import dev.cay.platform.OwnCay;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/// Finds lines in a daemon's log that inputs must not cause.
public final class DaemonLog {
    private static final Pattern ERROR = Pattern.compile("\\S+Z ERROR .*");

    /// What the virtual machine itself prints.
    private static final Pattern MACHINE =
            Pattern.compile("Exception in thread.*|.*OutOfMemoryError.*|# A fatal error.*");

    /// Of a trace in which Cay does not come up.
    private static final int SHOWN = 8;

    private static final Pattern OURS = Pattern.compile("\\s+at (dev\\.cay\\S+).*");

    /// A file that is written elsewhere, and how far it was read. It begins anew when it has grown too large.
    private static final class Tail {
        private final Path file;
        private final Pattern bad;
        private long read;

        Tail(Path file, Pattern bad) throws IOException {
            this.file = file;
            this.bad = bad;
            this.read = Files.exists(file) ? Files.size(file) : 0;
        }

        String[] lines() throws IOException {
            if (!Files.exists(file)) {
                return new String[0];
            }
            try (var in = new RandomAccessFile(file.toFile(), "r")) {
                in.seek(in.length() < read ? 0 : read);
                byte[] bytes = new byte[(int) (in.length() - in.getFilePointer())];
                in.readFully(bytes);
                read = in.getFilePointer();
                return new String(bytes, StandardCharsets.UTF_8).split("\n");
            }
        }
    }

    private final List<Tail> tails;

    public DaemonLog(OwnCay cay) throws IOException {
        tails = List.of(
                new Tail(cay.directory().resolve("state/logs/cay.log"), ERROR),
                new Tail(cay.directory().resolve("daemon.out"), MACHINE));
    }

    /// Errors since the last time, each with what was thrown and where in Cay.
    public List<String> news() throws IOException {
        var errors = new ArrayList<String>();
        for (var tail : tails) {
            String[] lines = tail.lines();
            for (int i = 0; i < lines.length; i++) {
                if (tail.bad.matcher(lines[i]).matches()) {
                    errors.add(error(lines, i));
                }
            }
        }
        return errors;
    }

    private static String error(String[] lines, int at) {
        var text = new StringBuilder(lines[at]
                .replaceFirst("^\\S+Z ERROR ", "")
                .replaceAll("error=\\S+|\\[[^\\]]*\\]", "")
                .strip());
        for (int i = at + 1; i < Math.min(lines.length, at + 60) && !lines[i].startsWith("20"); i++) {
            var ours = OURS.matcher(lines[i]);
            if (ours.matches()) {
                return text.append(" at ").append(ours.group(1)).toString();
            }
            if (i <= at + SHOWN) {
                text.append(i == at + 1 ? ": " : ", ").append(lines[i].strip());
            }
        }
        return text.toString();
    }
}
