package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `cay team network`, as a process, with a real server that has no sandboxes.
@Fast
final class TeamNetworkCommandTest {
    @TempDir
    private Path directory = Path.of("unset");

    private CommandServer cay;

    @BeforeEach
    void start() throws Exception {
        cay = new CommandServer(directory, new Rehearsal.EmptyNode());
    }

    @AfterEach
    void stop() {
        cay.close();
    }

    @Test
    void aDefaultIsSetShownAndTakenAway() throws Exception {
        assertThat(cay.cay("team", "network", "default").out()).startsWith("no default");
        var set = cay.cay("team", "network", "default", "--deny", "0.0.0.0/0", "--allow", "1.1.1.1,example.org");
        assertThat(set.errors()).isEmpty();
        assertThat(cay.cay("team", "network", "default").out()).isEqualTo("""
                internet  yes
                allow     1.1.1.1
                allow     example.org
                deny      0.0.0.0/0
                """);
        assertThat(cay.cay("team", "network", "default", "--deny", "example.org")
                        .errors())
                .contains("invalid denied CIDR example.org");
        assertThat(cay.cay("team", "network", "default", "--default", "--no-internet")
                        .errors())
                .contains("give it alone");
        assertThat(cay.cay("team", "network", "default", "--no-internet").out()).isEqualTo("internet  no\n");
        assertThat(cay.cay("team", "network", "default", "--default").out()).startsWith("no default");
    }
}
