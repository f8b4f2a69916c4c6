package dev.cay.node.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import java.net.Inet4Address;
import org.junit.jupiter.api.Test;

@Fast
final class HostPlanTest {
    private final HostPlan plan = new HostPlan("a", 1_000_000, "10.200.0.0/16");

    @Test
    void knowsItsSandboxesByAddress() {
        var slot = plan.claim(40);
        var address = Inet4Address.ofLiteral(slot.address());
        assertThat(plan.isSandbox(address)).isTrue();
        assertThat(plan.veth(address)).isEqualTo(slot.veth());
        assertThat(plan.isSandbox(Inet4Address.ofLiteral(plan.gateway()))).isFalse();
        assertThat(plan.isSandbox(Inet4Address.ofLiteral("10.201.0.9"))).isFalse();
        assertThat(plan.range()).isEqualTo("10.200.0.0/16");
    }

    @Test
    void takesASlotAgainOnlyWhenAllOthersHadTheirTurn() {
        var small = new HostPlan("a", 1_000_000, "10.200.0.0/29");
        var first = small.take();
        small.release(first);
        assertThat(small.take().index()).isEqualTo(1);
        assertThat(small.claim(3).index()).isEqualTo(3);
        assertThat(small.take().index()).isEqualTo(4);
        assertThat(small.take().index()).isEqualTo(0);
        assertThat(small.take().index()).isEqualTo(2);
        assertThatThrownBy(small::take).isInstanceOf(CayException.class).hasMessageContaining("all 5 slots are taken");
        assertThatThrownBy(() -> small.claim(3)).isInstanceOf(CayException.class);
        assertThatThrownBy(() -> small.claim(5)).isInstanceOf(CayException.class);
        small.release(first);
        assertThat(small.take()).isEqualTo(first);
    }

    @Test
    void keepsInterfacesOfInstancesApart() {
        var longer = new HostPlan("ab", 1_000_000, "10.201.0.0/16");
        assertThat(longer.interfacePrefix()).doesNotStartWith(plan.interfacePrefix());
        assertThat(new HostPlan("sevench", 1_000_000, "10.0.0.0/12")
                        .claim(8191)
                        .veth()
                        .length())
                .isLessThanOrEqualTo(15);
        assertThatThrownBy(() -> new HostPlan("a b\"", 1_000_000, "10.0.0.0/12"))
                .isInstanceOf(CayException.class);
    }
}
