package dev.cay.node.runtime;

import dev.cay.node.host.Programs;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/// Removes what a killed CRIU leaves in a sandbox it was saving: rules that block all traffic, and locked connections.
final class CutDump {
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final Pattern TABLE = Pattern.compile("(?m)^table (\\S+ CRIU\\S*)$");

    /// The commands by which CRIU removes its own rules; they fail where there are none.
    private static final String UNLOCK = """
            *filter
            :CRIU - [0:0]
            -D INPUT -j CRIU
            -D OUTPUT -j CRIU
            -X CRIU
            COMMIT
            """;

    private final Container container;

    CutDump(Container container) {
        this.container = container;
    }

    /// @param pids of all its processes, a line each
    void clear(Path guest, String pids) {
        var inside = new Programs(List.of("nsenter", "-t", Integer.toString(container.pid()), "-n", "--"));
        for (String program : List.of("iptables-restore", "ip6tables-restore")) {
            inside.run(LIMIT, UNLOCK, List.of(program, "--noflush"));
        }
        for (var table : TABLE.matcher(
                        inside.run(LIMIT, "nft", "list", "tables").output())
                .results()
                .toList()) {
            inside.run(LIMIT, "nft", "delete table " + table.group(1));
        }
        Programs.ofHost().require(LIMIT, pids, List.of(guest.toString(), "mend"));
    }
}
