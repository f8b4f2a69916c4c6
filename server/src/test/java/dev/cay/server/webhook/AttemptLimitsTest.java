package dev.cay.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.TeamId;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/// How many attempts may be under way, and whose.
@Fast
final class AttemptLimitsTest {
    private static Webhook webhook(String team, String id) {
        return new Webhook(
                id, new TeamId(team), "n", "https://x/", List.of(), "", true, Instant.EPOCH, null, null, null);
    }

    private static Message message(String webhook, int sandbox) {
        return new Message(
                sandbox,
                webhook,
                "e",
                "t",
                "s" + sandbox,
                "",
                Message.State.OPEN,
                0,
                Instant.EPOCH,
                null,
                false,
                null,
                List.of());
    }

    /// As many as may begin, at webhooks of this team that all hang.
    private static int fill(AttemptLimits limits, String team) {
        int begun = 0;
        for (int i = 0; i < 20; i++) {
            String id = team + "-" + i;
            for (int k = 0; k < 20 && limits.addIfFree(webhook(team, id), message(id, k)); k++) {
                begun++;
            }
        }
        return begun;
    }

    @Test
    void aWebhookAndATeamHaveFewAtATime() {
        var limits = new AttemptLimits();
        var one = webhook("a", "w");
        int begun = 0;
        while (limits.addIfFree(one, message("w", begun))) {
            begun++;
        }
        assertThat(begun).isEqualTo(4);
        assertThat(begun + fill(limits, "a")).isEqualTo(8);
    }

    @Test
    void thirtyTeamsWhoseReceiversHangLeaveRoomForAnother() {
        var limits = new AttemptLimits();
        for (int team = 0; team < 30; team++) {
            assertThat(fill(limits, "hangs" + team)).isPositive();
        }
        var good = webhook("good", "w");
        assertThat(limits.freeFor(good)).isPositive();
        assertThat(limits.addIfFree(good, message("w", 0))).isTrue();
        limits.remove(good, message("w", 0));
        assertThat(limits.of(new TeamId("good"))).isZero();
    }
}
