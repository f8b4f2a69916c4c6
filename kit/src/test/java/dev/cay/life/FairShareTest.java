package dev.cay.life;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import org.junit.jupiter.api.Test;

@Fast
final class FairShareTest {
    private final FairShare share = new FairShare(100);

    private int most(String owner) {
        int got = 0;
        while (share.enter(owner)) {
            got++;
        }
        return got;
    }

    @Test
    void givesOneOwnerHalfAndEachLaterOneWhatIsLeft() {
        assertThat(most("a")).isEqualTo(50);
        assertThat(most("b")).isEqualTo(25);
        assertThat(most("c")).isEqualTo(13);
        assertThat(share.enter("newcomer")).isTrue();
    }

    @Test
    void givesPlacesAgainThatWereGivenBack() {
        most("a");
        assertThat(share.enter("a")).isFalse();
        share.leave("a");
        assertThat(share.enter("a")).isTrue();
        for (int i = 0; i < 50; i++) {
            share.leave("a");
        }
        assertThat(most("b")).isEqualTo(50);
    }

    @Test
    void neverRunsOutBeforeEachOfAHundredHasHadOne() {
        for (int owner = 0; owner < 100; owner++) {
            assertThat(share.enter("owner" + owner)).as("owner %d", owner).isTrue();
        }
        assertThat(share.enter("one more")).isFalse();
    }
}
