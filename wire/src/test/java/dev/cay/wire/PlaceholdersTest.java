package dev.cay.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.wire.node.Placeholders;
import java.util.Optional;
import org.junit.jupiter.api.Test;

@Fast
final class PlaceholdersTest {
    private static final SandboxId ID = new SandboxId("i1");
    private final Placeholders known =
            (_, kind, name, host) -> host.equals("a.test") ? Optional.of(kind + ":" + name + "$1") : Optional.empty();

    @Test
    void putsValuesWhereTheirNamesAre() throws Exception {
        assertThat(known.fill("Bearer ${e2b.secrets.k}, ${e2b.identity.tokens.aws} $x ${y}", ID, "a.test", _ -> {}))
                .isEqualTo("Bearer SECRET:k$1, IDENTITY_TOKEN:aws$1 $x ${y}");
    }

    @Test
    void failsForWhatItDoesNotKnowAndNamesNoValue() {
        assertThatThrownBy(() -> known.fill("${e2b.secrets.k}", ID, "b.test", _ -> {}))
                .isInstanceOf(Placeholders.Unknown.class)
                .hasMessageContaining("${e2b.secrets.k}")
                .hasMessageNotContaining("SECRET:k");
        assertThatThrownBy(() -> known.fill("${e2b.other.k}", ID, "a.test", _ -> {}))
                .isInstanceOf(Placeholders.Unknown.class);
        assertThatThrownBy(() -> Placeholders.NONE.fill("${e2b.secrets.k}", ID, "a.test", _ -> {}))
                .isInstanceOf(Placeholders.Unknown.class);
        Placeholders split = (_, _, _, _) -> Optional.of("v\r\nX-Admin: yes");
        assertThatThrownBy(() -> split.fill("${e2b.secrets.k}", ID, "a.test", _ -> {}))
                .isInstanceOf(Placeholders.Unknown.class)
                .hasMessageNotContaining("X-Admin");
    }
}
