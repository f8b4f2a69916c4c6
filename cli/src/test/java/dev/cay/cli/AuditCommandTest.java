package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `cay audit`, as a process, with a real server that has no sandboxes.
@Fast
final class AuditCommandTest {
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
    void entriesAreListedExportedAndVerified() throws Exception {
        assertThat(cay.cay("key", "create", "ci").code()).isZero();
        assertThat(cay.cay("admin-token", "--renew").code()).isZero();
        assertThat(cay.cay("audit", "list").out())
                .containsPattern(" key:\\S+ 127.0.0.1 key.create ok 201 key=")
                .contains("operator 127.0.0.1 admin-token.renew ok");
        assertThat(cay.cay("audit", "list", "--action", "key", "--since", "1h", "--json")
                        .out())
                .hasLineCount(1)
                .startsWith("{\"action\":\"key.create\"");
        assertThat(cay.cay("audit", "list", "--until", "1h").out()).isEmpty();
        assertThat(cay.cay("audit", "list", "--since", "soon").errors()).contains("--since is 'soon'");
        String head = cay.cay("audit", "head").out().strip();
        assertThat(head).matches("\\d+:[0-9a-f]{64}");

        Path file = directory.resolve("audit.jsonl");
        assertThat(cay.cay("audit", "export", file.toString()).code()).isZero();
        Path nowhere = directory.resolve("nowhere/audit.jsonl");
        for (var refused : List.of(
                cay.cay("audit", "export", nowhere.toString()),
                cay.cay("audit", "verify", "--file", nowhere.toString()))) {
            assertThat(refused.code()).isEqualTo(1);
            assertThat(refused.errors()).startsWith("cay: %s: there is no such file".formatted(nowhere));
        }
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(cay.cay("audit", "export", "-").out()).startsWith(Files.readString(file));
        assertThat(cay.cay("audit", "verify", "--file", file.toString()).out()).contains("lines are right; head ");
        assertThat(cay.cay("audit", "verify", "--file", file.toString(), "--head", head)
                        .code())
                .isZero();
        var notKept = cay.cay("audit", "verify", "--file", file.toString(), "--head", "2:" + "0".repeat(64));
        assertThat(notKept.code()).isEqualTo(1);
        assertThat(notKept.out()).contains("entry 2 is wrong: it is not the one that was kept");
        var notThere = cay.cay("audit", "verify", "--file", file.toString(), "--head", "999:" + "0".repeat(64));
        assertThat(notThere.code()).isEqualTo(1);
        assertThat(notThere.out()).contains("entry 999 is not in the file");
        String good = Files.readString(file);
        String last = good.lines().toList().getLast() + "\n";
        Files.writeString(file, good + last);
        assertThat(cay.cay("audit", "verify", "--file", file.toString()).code())
                .as("an export that was killed")
                .isZero();
        Files.writeString(file, good + last.replace("operator", "nobody"));
        var forged = cay.cay("audit", "verify", "--file", file.toString());
        assertThat(forged.code()).isEqualTo(1);
        assertThat(forged.out()).contains("as it came before");
        Files.writeString(file, good);
        Files.writeString(file, Files.readString(file).replace("key.create", "key.rename"));
        var wrongFile = cay.cay("audit", "verify", "--file", file.toString());
        assertThat(wrongFile.code()).isEqualTo(1);
        assertThat(wrongFile.out()).contains("entry 2 is wrong");

        assertThat(cay.cay("audit", "verify", "--head", head).out()).contains("entries are right; head ");
        var other = cay.cay("audit", "verify", "--head", "2:" + "0".repeat(64));
        assertThat(other.code()).isEqualTo(1);
        assertThat(other.out()).contains("entry 2 is wrong: it is not the one that was kept");
        cay.store.write(handle -> handle.execute("DELETE FROM audit WHERE sequence = 2"));
        var gone = cay.cay("audit", "verify");
        assertThat(gone.code()).isEqualTo(1);
        assertThat(gone.out()).contains("entry 2 is wrong: it is missing");
    }

    @Test
    void followingShowsWhatIsAddedUntilItIsStopped() throws Exception {
        Path out = directory.resolve("followed");
        var builder = cay.builder("audit", "list", "-f")
                .redirectOutput(out.toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        var following = builder.start();
        try {
            await(out, "daemon.start");
            assertThat(cay.cay("key", "create", "ci").code()).isZero();
            await(out, "key.create");
        } finally {
            following.destroy();
            assertThat(following.waitFor(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    private static void await(Path file, String text) {
        Await.until(
                () -> "the output has '%s'".formatted(text),
                () -> Files.readString(file).contains(text));
    }
}
