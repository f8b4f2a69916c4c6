package dev.cay.prove.fuzz;

import dev.cay.bench.OwnCay;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/// What a daemon writes into its log that it should not have to.
public final class DaemonLog {
    private static final Pattern ERROR = Pattern.compile(
            "^[0-9:.]+ ERROR .*|.*Exception in thread.*|.*OutOfMemoryError.*|.*StackOverflowError.*|.*A fatal error has been detected.*");
    private static final Pattern OURS = Pattern.compile("\\s+at (dev\\.cay\\S+).*");

    private final OwnCay cay;
    private int read;

    public DaemonLog(OwnCay cay) {
        this.cay = cay;
        this.read = cay.output().length();
    }

    /// Errors since the last time, each with what was thrown and where in Cay.
    public List<String> news() {
        String all = cay.output();
        var lines = all.substring(Math.min(read, all.length())).split("\n");
        read = all.length();
        var errors = new ArrayList<String>();
        for (int i = 0; i < lines.length; i++) {
            if (ERROR.matcher(lines[i]).matches()) {
                errors.add(error(lines, i));
            }
        }
        return errors;
    }

    private static String error(String[] lines, int at) {
        var text = new StringBuilder(lines[at]
                .replaceFirst("^[0-9:.]+ ", "")
                .replaceAll("error=\\S+", "")
                .strip());
        if (at + 1 < lines.length && !lines[at + 1].startsWith("\t")) {
            text.append(": ").append(lines[at + 1].strip());
        }
        for (int i = at + 1; i < Math.min(lines.length, at + 40); i++) {
            var ours = OURS.matcher(lines[i]);
            if (ours.matches()) {
                return text.append(" at ").append(ours.group(1)).toString();
            }
        }
        return text.toString();
    }
}
