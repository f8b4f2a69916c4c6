package dev.cay.node.storage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.DiskShare;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

@Fast
final class ShareLimitsTest {
    private static final SandboxId ONE = new SandboxId("one");
    private static final SandboxId TWO = new SandboxId("two");
    private static final SandboxId PAUSED = new SandboxId("paused");
    private static final DiskShare SHARE = new DiskShare(1000, Set.of(ONE, TWO, PAUSED), Set.of("mine"));

    @Test
    void countsWhatRunsIsPausedAndWasSaved() {
        var saved = Map.of("paused.1", 100L, "mine", 30L, "theirs", 7L, "other.1", 9L, "warm-base", 5L);
        assertThat(ShareLimits.held(SHARE, Map.of(ONE, 200L, new SandboxId("other"), 1L), saved))
                .isEqualTo(330);
    }

    @Test
    void dividesWhatIsLeft() {
        var own = Map.of(ONE, 10_000L, TWO, 10_000L);
        var used = Map.of(ONE, 200L, TWO, 100L);
        assertThat(ShareLimits.divide(SHARE, 400, used, own)).isEqualTo(Map.of(ONE, 500L, TWO, 400L));
    }

    /// A team has one share, and a key of it another one with some of the same sandboxes.
    @Test
    void holdsAWriterOfSeveralSharesToTheLowestLimit() {
        var own = Map.of(ONE, 10_000L, TWO, 10_000L);
        var used = Map.of(ONE, 200L, TWO, 100L);
        var narrow = new DiskShare(250, Set.of(ONE), Set.of());
        for (var shares : List.of(List.of(SHARE, narrow), List.of(narrow, SHARE))) {
            var divided = ShareLimits.divide(shares, used, Map.of("mine", 100L), own);
            assertThat(divided.limits()).isEqualTo(Map.of(ONE, 250L, TWO, 400L));
            assertThat(divided.held()).containsExactlyInAnyOrder(400L, 200L);
        }
    }

    @Test
    void leavesASandboxItsOwnLimit() {
        assertThat(ShareLimits.divide(SHARE, 10, Map.of(ONE, 5L, TWO, 5L), Map.of(ONE, 50L, TWO, 50L)))
                .isEqualTo(Map.of(ONE, 50L, TWO, 50L));
    }

    @Test
    void lowersNobodyBelowWhatItHolds() {
        assertThat(ShareLimits.divide(SHARE, 2000, Map.of(ONE, 900L), Map.of(ONE, 5000L, TWO, 5000L)))
                .isEqualTo(Map.of(ONE, 900L, TWO, 1L));
    }
}
