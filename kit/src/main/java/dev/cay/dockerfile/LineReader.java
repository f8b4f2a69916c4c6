package dev.cay.dockerfile;

import dev.cay.dockerfile.LogicalLine.Heredoc;
import dev.cay.dockerfile.LogicalLine.Piece;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Turns the text of a Dockerfile into instructions as text: parser directives, comments, continuation lines and
/// heredocs are resolved here.
final class LineReader {
    private static final int MOST_CHARACTERS = 4 << 20;
    private static final int MOST_IN_A_LINE = 1 << 20;
    private static final int MOST_INSTRUCTIONS = 4000;
    private static final int LONGEST_DIRECTIVE = 1000;
    private static final Set<String> DIRECTIVES = Set.of("syntax", "escape", "check");
    private static final Pattern DIRECTIVE = Pattern.compile("#\\s*([a-zA-Z][a-zA-Z0-9]*)\\s*=\\s*(\\S.*)");
    private static final Pattern TAKES_HEREDOCS =
            Pattern.compile("(?i)(onbuild\\s+)?(run|copy|add)\\s.*", Pattern.DOTALL);
    private static final Pattern HEREDOC = Pattern.compile("\\d*<<(-?)([^<]+)");

    private final String file;
    private final String text;
    private final List<LogicalLine> lines = new ArrayList<>();
    private final Set<String> directives = new HashSet<>();
    private char escape = '\\';

    /// Where the next physical line begins, and the number of the one that was read last.
    private int next;

    private int number;

    private LineReader(String file, String text) {
        this.file = file;
        this.text = text;
    }

    /// @param escape the character of the `escape` directive, a backslash without one
    record Result(List<LogicalLine> lines, char escape) {}

    static Result read(String text, String file) {
        var reader = new LineReader(file, text.startsWith("\uFEFF") ? text.substring(1) : text);
        reader.checkText();
        reader.readDirectives();
        while (reader.hasMore()) {
            reader.readInstruction();
        }
        return new Result(reader.lines, reader.escape);
    }

    private void checkText() {
        if (text.length() > MOST_CHARACTERS) {
            throw problem(
                    1, 1, "the file has more than 4,194,304 characters", "move large data to files of the context");
        }
        int zero = text.indexOf('\0');
        if (zero >= 0) {
            int line =
                    (int) text.substring(0, zero).chars().filter(c -> c == '\n').count() + 1;
            int column = zero - text.lastIndexOf('\n', zero);
            throw problem(line, column, "the file has a NUL character", "save it as plain UTF-8 text");
        }
    }

    /// Directives end at the first line that is none, also at an empty one or a comment.
    private void readDirectives() {
        while (hasMore()) {
            int start = next;
            String line = nextLine().strip();
            var match = DIRECTIVE.matcher(line);
            String name = line.length() > LONGEST_DIRECTIVE || !match.matches()
                    ? ""
                    : match.group(1).toLowerCase(Locale.ROOT);
            if (!DIRECTIVES.contains(name)) {
                next = start;
                number--;
                return;
            }
            if (!directives.add(name)) {
                throw problem(number, 1, "the directive " + name + " is given twice", "keep one");
            }
            if (name.equals("escape")) {
                setEscape(match.group(2));
            }
        }
    }

    private void setEscape(String value) {
        if (!value.equals("\\") && !value.equals("`")) {
            throw problem(number, 1, "the escape character is neither \\ nor `", "write # escape=\\ or # escape=`");
        }
        escape = value.charAt(0);
    }

    private void readInstruction() {
        String first = nextLine();
        int indent = Words.skipSpaces(first, 0);
        if (indent == first.length() || first.charAt(indent) == '#') {
            return;
        }
        if (lines.size() == MOST_INSTRUCTIONS) {
            throw problem(
                    number,
                    indent + 1,
                    "the file has more than %,d instructions".formatted(MOST_INSTRUCTIONS),
                    "put several commands into one RUN");
        }
        int line = number;
        var joined = new StringBuilder();
        var pieces = new ArrayList<Piece>();
        pieces.add(new Piece(0, new Position(line, indent + 1)));
        boolean goesOn = append(joined, first.substring(indent));
        while (goesOn && hasMore()) {
            String more = nextLine();
            int content = Words.skipSpaces(more, 0);
            if (content == more.length() || more.charAt(content) == '#') {
                continue;
            }
            pieces.add(new Piece(joined.length(), new Position(number, 1)));
            goesOn = append(joined, more);
        }
        String logical = joined.toString();
        if (!logical.isBlank()) {
            lines.add(new LogicalLine(file, logical, pieces, heredocs(logical, line)));
        }
    }

    /// @return whether the line ends with the escape character, so that the next one belongs to it
    private boolean append(StringBuilder joined, String line) {
        int end = line.length();
        while (end > 0 && (line.charAt(end - 1) == ' ' || line.charAt(end - 1) == '\t')) {
            end--;
        }
        boolean goesOn = end > 0 && line.charAt(end - 1) == escape && !(end > 1 && line.charAt(end - 2) == escape);
        joined.append(line, 0, goesOn ? end - 1 : line.length());
        if (joined.length() > MOST_IN_A_LINE) {
            throw problem(
                    number,
                    1,
                    "the instruction has more than 1,048,576 characters",
                    "move its text to a file of the context");
        }
        return goesOn;
    }

    private List<Heredoc> heredocs(String logical, int line) {
        var heredocs = new ArrayList<Heredoc>();
        if (logical.contains("<<") && TAKES_HEREDOCS.matcher(logical).matches()) {
            for (var word : Words.quoted(logical, 0, escape)) {
                var delimiter = delimiter(word.text());
                if (delimiter != null) {
                    heredocs.add(readHeredoc(delimiter, line));
                }
            }
        }
        return heredocs;
    }

    /// The heredoc that a word begins, still without its body; null when the word begins none.
    static @Nullable Heredoc delimiter(String word) {
        if (!word.contains("<<")) {
            return null;
        }
        var match = HEREDOC.matcher(word);
        if (!match.matches()) {
            return null;
        }
        String written = match.group(2);
        String name = Words.unquote(written, '\\');
        boolean empty = name.isEmpty();
        return empty
                ? null
                : new Heredoc(name, "", name.equals(written), !match.group(1).isEmpty());
    }

    private Heredoc readHeredoc(Heredoc begun, int line) {
        var body = new StringBuilder();
        while (hasMore()) {
            String content = nextLine();
            if ((begun.stripTabs() ? Heredoc.withoutTabs(content) : content).equals(begun.name())) {
                return new Heredoc(begun.name(), body.toString(), begun.expand(), begun.stripTabs());
            }
            body.append(content).append('\n');
        }
        throw problem(
                line,
                1,
                "the heredoc %s is not ended".formatted(Excerpt.of(begun.name())),
                "add a line that has only %s".formatted(Excerpt.of(begun.name())));
    }

    private boolean hasMore() {
        return next < text.length();
    }

    /// The next line without its line end, which is LF or CRLF.
    private String nextLine() {
        int end = text.indexOf('\n', next);
        end = end < 0 ? text.length() : end;
        boolean carriageReturn = end > next && text.charAt(end - 1) == '\r';
        String line = text.substring(next, carriageReturn ? end - 1 : end);
        next = end + 1;
        number++;
        return line;
    }

    private DockerfileException problem(int line, int column, String what, String fix) {
        return new DockerfileException(file, new Position(line, column), what, fix);
    }
}
