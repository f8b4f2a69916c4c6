package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.testing.NeedsRoot;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// What a user sees of a daemon that dies without warning: nothing is lost.
@NeedsRoot
final class CrashTest {
    private static final int TRIES = 3;

    /// What was printed is never lost: it can be read again, exactly. An unmodified client, which cannot say how far it
    /// read, goes on where it was cut, unless the crash hits the microseconds between note and send, or the client
    /// itself drops what it had received but not yet looked at. So that part may take another try.
    @Test
    void aRestartAfterAKillAdoptsSandboxesAndTheirCommands() throws Exception {
        try (var platform = OwnCay.start(Map.of())) {
            JsonNode verdict = crash(platform);
            for (int tries = 1; tries < TRIES && !verdict.get("broken").isNull(); tries++) {
                verdict = crash(platform);
            }
            assertThat(verdict.get("broken").isNull()).as(verdict.toString()).isTrue();
        }
    }

    private static JsonNode crash(OwnCay platform) throws Exception {
        var verdict = CrashScript.run(platform, NpmClient.e2b(), "crash.mjs");
        assertThat(verdict.get("alive").asBoolean()).isTrue();
        assertThat(verdict.get("listed").asBoolean()).isTrue();
        assertThat(verdict.get("brokenWhenReadAgain").isNull())
                .as(verdict.toString())
                .isTrue();
        assertThat(verdict.get("numbers").asInt()).isGreaterThan(200);
        assertThat(verdict.get("lonelyAfter").asInt()).isGreaterThan(20);
        return verdict;
    }
}
