package dev.cay.cli;

import dev.cay.server.audit.AuditChain;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Checks a file of entries of the audit log, as `audit.file` and `cay audit export` write them.
///
/// An export that was killed sends its last entries again, so lines may come twice, and are the same then. A file that
/// was rotated begins in the middle.
final class AuditFile {
    /// What was kept elsewhere.
    record Head(long sequence, String hash) {}

    /// Lines that are remembered, in case they come again: more than an export sends at a time.
    private static final int REMEMBERED = 2000;

    private final Path file;
    private final @Nullable Head head;
    private final Map<Long, String> recent = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, String> eldest) {
            return size() > REMEMBERED;
        }
    };

    private String hash = AuditChain.BEGINNING;
    private long last;
    private long count;
    private boolean compared;

    /// @param head an entry that the file must have; null for none
    AuditFile(Path file, @Nullable Head head) {
        this.file = file;
        this.head = head;
    }

    /// Prints what was found.
    ///
    /// @return the exit code of the command
    int verify() throws IOException {
        try (var lines = Files.newBufferedReader(file)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                count++;
                String wrong = check(line);
                if (wrong != null) {
                    System.out.println(wrong);
                    return 1;
                }
            }
        }
        if (head != null && !compared) {
            System.out.println("entry %d is not in the file, so it cannot be compared".formatted(head.sequence()));
            return 1;
        }
        System.out.println("%d lines are right; head %d:%s".formatted(count, last, hash));
        return 0;
    }

    /// @return what is wrong with the line; null for nothing
    private @Nullable String check(String line) {
        var link = AuditChain.Link.parse(line).orElse(null);
        if (link == null) {
            return "line %d is no entry".formatted(count);
        }
        if (link.sequence() <= last) {
            return line.equals(recent.get(link.sequence()))
                    ? null
                    : "line %d is wrong: it is not entry %d as it came before".formatted(count, link.sequence());
        }
        boolean first = last == 0 && link.sequence() > 1;
        if (!first && (link.sequence() != last + 1 || !link.follows(hash))) {
            return "entry %d is wrong: it does not follow from the one before"
                    .formatted(Math.min(link.sequence(), last + 1));
        }
        last = link.sequence();
        hash = link.hash();
        recent.put(last, line);
        return compare();
    }

    private @Nullable String compare() {
        if (head == null || head.sequence() != last) {
            return null;
        }
        compared = true;
        return head.hash().equals(hash) ? null : "entry %d is wrong: it is not the one that was kept".formatted(last);
    }
}
