package dev.cay.node.mcp.server;

import dev.cay.node.lines.Tail;
import java.util.regex.Pattern;

/// What a server said last on its standard error, fit to be shown to its user. Thread-safe.
final class LastWords {
    /// How much is shown.
    private static final int MOST = 4 << 10;

    /// Colours, and other characters that nobody sees.
    private static final Pattern UNSEEN = Pattern.compile("\u001b\\[[0-9;]*[A-Za-z]|[\\p{Cntrl}&&[^\\n\\t]]");

    /// Where in its program it was. Why it ended stands before that, and would not be seen behind so much.
    private static final Pattern FRAMES = Pattern.compile(
            "(?m)^[ \\t]++at .*(:\\d+:\\d+\\)?|<anonymous>\\)|native\\))(?: \\{)?$\\R?|^Node\\.js v[\\d.]+$\\R?");

    private final Secrets secrets;
    private final Tail complaint;

    LastWords(Secrets secrets) {
        this.secrets = secrets;
        this.complaint = new Tail(MOST + 4 * secrets.longest());
    }

    /// Where it is written as it comes.
    Tail complaint() {
        return complaint;
    }

    /// Without the values the server was given; empty if it said nothing.
    String text() {
        String last = secrets.strikeOut(complaint.text(), complaint.isCut());
        last = FRAMES.matcher(UNSEEN.matcher(last).replaceAll("")).replaceAll("");
        return last.substring(Math.max(0, last.length() - MOST)).strip();
    }
}
