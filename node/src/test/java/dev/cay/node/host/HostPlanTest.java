package dev.cay.node.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.wire.CayException;
import java.net.Inet4Address;
import org.junit.jupiter.api.Test;

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
    void keepsInterfacesOfInstancesApart() {
        var longer = new HostPlan("ab", 1_000_000, "10.201.0.0/16");
        assertThat(longer.interfacePrefix()).doesNotStartWith(plan.interfacePrefix());
        assertThat(new HostPlan("sevench", 1_000_000, "10.0.0.0/12")
                        .claim(40_000)
                        .veth()
                        .length())
                .isLessThanOrEqualTo(15);
        assertThatThrownBy(() -> new HostPlan("a b\"", 1_000_000, "10.0.0.0/12"))
                .isInstanceOf(CayException.class);
    }
}
