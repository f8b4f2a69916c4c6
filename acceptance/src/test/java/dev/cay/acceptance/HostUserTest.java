package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.host.Programs;
import dev.cay.platform.OwnCay;
import dev.cay.platform.RemoteSandbox;
import dev.cay.prove.escape.HostUser;
import dev.cay.testing.NeedsRoot;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Users of the host read nothing below the state directory, whatever names they know, also where an earlier version
/// let them; sandboxes, whose users are users of the host as well, work all the same.
@NeedsRoot
final class HostUserTest {
    private static final Duration LIMIT = Duration.ofMinutes(1);

    @Test
    void readsNothingOfARunningDaemon() throws Exception {
        try (var cay = OwnCay.start(Map.of("sandboxes.spares", "1"))) {
            Path state = cay.directory().resolve("state");
            try (var running = RemoteSandbox.create(cay.url(), cay.key());
                    var paused = RemoteSandbox.create(cay.url(), cay.key())) {
                use(running);
                use(paused);
                assertThat(paused.api("POST", "/pause", "").statusCode()).isEqualTo(204);
                assertNothingIsRead(state);
                openAsBefore(cay, state);
                assertThat(HostUser.reads(state))
                        .contains("pool.btrfs", "cay.db", "sandboxes/%s/sandbox.json".formatted(running.id()));
                cay.startAgain();
                assertNothingIsRead(state);
                assertThat(running.run(List.of("/usr/bin/stat", "-c", "%a", "/home/user/mine")))
                        .isEqualTo("644\n");
                use(running);
                assertThat(paused.api("POST", "/connect", "{\"timeout\":600}").statusCode())
                        .isEqualTo(201);
                use(paused);
                assertNothingIsRead(state);
            }
        }
    }

    private static void assertNothingIsRead(Path state) {
        assertThat(HostUser.reads(state)).isEmpty();
        assertThat(HostUser.readable(state)).contains("tls/ca.pem", "tls/bundle.pem");
        assertThat(listsAsNobody(state.resolveSibling("run"))).isTrue();
    }

    /// Stops the daemon and gives its files the permissions that they had before.
    private static void openAsBefore(OwnCay cay, Path state) throws Exception {
        cay.crash();
        var script = """
                chmod 644 "$1"/pool.btrfs "$1"/cay.db* && chmod 755 "$1"/tls "$1"/guest "$1"/guest/* "$1"/guest/*/* &&
                chmod -R u=rwX,go=rX "$1"/sandboxes "$1"/records
                """;
        Programs.ofHost().require(LIMIT, "", List.of("sh", "-c", script, "sh", state.toString()));
    }

    /// As an ordinary user inside, who has to read the template's files.
    private static void use(RemoteSandbox sandbox) throws Exception {
        String said = sandbox.run(List.of(
                "/bin/su", "user", "-c", "ls / /usr/bin /etc/ssl/certs && echo mine > /home/user/mine && echo fine"));
        assertThat(said).contains("usr").endsWith("fine\n");
    }

    private static boolean listsAsNobody(Path directory) {
        assertThat(Files.isDirectory(directory)).isTrue();
        String[] words = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "ls", directory.toString()};
        return Programs.ofHost().run(LIMIT, words).ok();
    }
}
