package dev.cay.node.mcp.server;

import dev.cay.node.lines.Tail;
import java.util.regex.Pattern;

/// The last lines of a server's standard error, cleaned so that its user may see them. Thread-safe.
final class LastWords {
    /// Most bytes that are shown.
    private static final int MOST = 4 << 10;

    /// Colours, and other invisible characters.
    private static final Pattern UNSEEN = Pattern.compile("\u001b\\[[0-9;]*[A-Za-z]|[\\p{Cntrl}&&[^\\n\\t]]");

    /// Stack frames. The reason is printed before them, and would be cut off by so many lines.
    private static final Pattern FRAMES = Pattern.compile(
            "(?m)^[ \\t]++at .*(:\\d+:\\d+\\)?|<anonymous>\\)|native\\))(?: \\{)?$\\R?|^Node\\.js v[\\d.]+$\\R?");

    private final Secrets secrets;
    private final Tail complaint;

    LastWords(Secrets secrets) {
        this.secrets = secrets;
        this.complaint = new Tail(MOST + 4 * secrets.longest());
    }

    /// Receives the output.
    Tail complaint() {
        return complaint;
    }

    /// The text without the values the server was given; empty without output.
    String text() {
        String last = secrets.strikeOut(complaint.text(), complaint.isCut());
        last = FRAMES.matcher(UNSEEN.matcher(last).replaceAll("")).replaceAll("");
        return last.substring(Math.max(0, last.length() - MOST)).strip();
    }
}
