package dev.cay.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.node.AddressSet;
import dev.cay.wire.node.Ceiling;
import dev.cay.wire.node.Egress;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

@Fast
final class EgressTest {
    private static final List<String> ALL = List.of("0.0.0.0/0");

    @Test
    void anAllowedAddressWinsOverADeniedOne() {
        var egress = egress(List.of("1.1.1.1", "9.9.9.0/24:443"), ALL);
        assertThat(egress.allowsAddress(address("1.1.1.1"), 25)).isTrue();
        assertThat(egress.allowsAddress(address("9.9.9.9"), 443)).isTrue();
        assertThat(egress.allowsAddress(address("9.9.9.9"), 80)).isFalse();
        assertThat(egress.allowsAddress(address("8.8.8.8"), 443)).isFalse();
        assertThat(egress.takesPath()).isFalse();
        assertThat(egress.deniesRest()).isTrue();
    }

    @Test
    void whatNobodyMentionsIsAllowed() {
        var egress = egress(List.of(), List.of("8.8.8.8", "10.0.0.0/8"));
        assertThat(egress.allowsAddress(address("8.8.4.4"), 1)).isTrue();
        assertThat(egress.allowsAddress(address("8.8.8.8"), 1)).isFalse();
        assertThat(egress.allowsAddress(address("2001:4860::1"), 1)).isTrue();
        assertThat(egress.deniesRest()).isFalse();
    }

    @Test
    void denyingAllOfIpv4DeniesIpv6() {
        assertThat(egress(List.of(), List.of("0.0.0.0/1", "128.0.0.0/1")).allowsAddress(address("2001:4860::1"), 1))
                .isFalse();
    }

    @Test
    void withoutInternetNothingIsAllowed() {
        var egress = new Egress(false, List.of("1.1.1.1", "*"), List.of(), Map.of(), null, true, true);
        assertThat(egress.allowsAddress(address("1.1.1.1"), 443)).isFalse();
        assertThat(egress.allowsName("example.org", 443)).isFalse();
        assertThat(egress.takesPath()).isFalse();
    }

    @Test
    void namesMatchAsPatternsSay() {
        var egress = egress(List.of("Example.org", "*.deep.test", "db.test:5432"), ALL);
        assertThat(egress.allowsName("example.ORG.", 80)).isTrue();
        assertThat(egress.allowsName("www.example.org", 80)).isFalse();
        assertThat(egress.allowsName("a.b.deep.test", 80)).isTrue();
        assertThat(egress.allowsName("deep.test", 80)).isFalse();
        assertThat(egress.allowsName("xdeep.test", 80)).isFalse();
        assertThat(egress.allowsName(".deep.test", 80)).isFalse();
        assertThat(egress.allowsName("db.test", 5432)).isTrue();
        assertThat(egress.allowsName("db.test", 5433)).isFalse();
        assertThat(egress(List.of("*"), ALL).allowsName("anything", 1)).isTrue();
        assertThat(egress.takesPath()).isTrue();
    }

    @Test
    void theMostExactRuleDecides() {
        var exact = new Egress.Transform(Map.of("A", "exact"), null);
        var near = new Egress.Transform(Map.of("A", "near"), null);
        var far = new Egress.Transform(Map.of("A", "far"), null);
        var egress = new Egress(
                true,
                List.of(),
                List.of(),
                Map.of("api.x.test", exact, "*.x.test", near, "*.test", far),
                null,
                false,
                false);
        assertThat(egress.transform("API.x.test")).contains(exact);
        assertThat(egress.transform("b.x.test")).contains(near);
        assertThat(egress.transform("x.test")).contains(far);
        assertThat(egress.transform("test")).isEmpty();
        assertThat(exact.toString()).doesNotContain("exact");
    }

    @Test
    void rangesAreMergedForTheKernel() {
        var set = AddressSet.of(List.of("10.0.0.0/24", "10.0.1.0/24", "10.0.0.7", "1.2.3.4", "fd00::/8"));
        assertThat(set.ipv4().stream()
                        .map(range -> range.first().getHostAddress() + "-"
                                + range.last().getHostAddress()))
                .containsExactly("1.2.3.4-1.2.3.4", "10.0.0.0-10.0.1.255");
        assertThat(set.holds(address("fd12::1"))).isTrue();
        assertThat(AddressSet.of(List.of("0.0.0.0/1", "128.0.0.0/1")).hasAllIpv4())
                .isTrue();
        assertThat(AddressSet.of(List.of("0.0.0.0/1", "128.0.0.1/1", "255.255.255.255/32"))
                        .hasAllIpv4())
                .isTrue();
        assertThat(AddressSet.of(List.of("0.0.0.0/1")).hasAllIpv4()).isFalse();
    }

    @Test
    void whatIsReachedForASandboxIsWhatItMayReachItself() {
        var ruled = egress(List.of("good.test", "1.1.1.1"), ALL);
        assertThat(ruled.reaches("good.test", address("9.9.9.9"), 443, Ceiling.NONE))
                .isTrue();
        assertThat(ruled.reaches("other.test", address("1.1.1.1"), 443, Ceiling.NONE))
                .isTrue();
        assertThat(ruled.reaches("other.test", address("9.9.9.9"), 443, Ceiling.NONE))
                .isFalse();
        assertThat(ruled.reaches("other.test", null, 443, Ceiling.NONE)).isFalse();
        assertThat(ruled.reaches("good.test", null, 443, Ceiling.NONE)).isTrue();
        var ceiling = new Ceiling(List.of(), List.of("9.9.9.9"));
        assertThat(ruled.reaches("good.test", address("9.9.9.9"), 443, ceiling)).isFalse();
        assertThat(ruled.reaches("good.test", null, 443, ceiling)).isFalse();
        assertThat(Egress.open().reaches("any.test", null, 443, Ceiling.NONE)).isTrue();
        assertThat(Egress.closed().reaches("any.test", address("1.1.1.1"), 443, Ceiling.NONE))
                .isFalse();
    }

    @Test
    void theCeilingHoldsForAll() {
        assertThat(Ceiling.NONE.permits(address("8.8.8.8"))).isTrue();
        var ceiling = new Ceiling(List.of("8.0.0.0/8"), List.of("8.8.4.4"));
        assertThat(ceiling.permits(address("8.8.8.8"))).isTrue();
        assertThat(ceiling.permits(address("8.8.4.4"))).isFalse();
        assertThat(ceiling.permits(address("1.1.1.1"))).isFalse();
        assertThat(ceiling.permits(address("2001:4860::1"))).isFalse();
        var noIpv4 = new Ceiling(List.of(), ALL);
        assertThat(noIpv4.permits(address("8.8.8.8"))).isFalse();
        assertThat(noIpv4.permits(address("2001:4860::1")))
                .as("who denies all of IPv4 means IPv6, too")
                .isFalse();
        assertThat(new Ceiling(List.of(), List.of("8.8.4.4")).permits(address("2001:4860::1")))
                .isTrue();
    }

    @Test
    void theCeilingOfNamesHoldsWhateverTheAddressIs() {
        var ceiling = new Ceiling(List.of(), List.of(), List.of("good.test", "*.fine.test"));
        assertThat(ceiling.permitsName("GOOD.test.")).isTrue();
        assertThat(ceiling.permitsName("a.fine.test")).isTrue();
        assertThat(ceiling.permitsName("fine.test")).isFalse();
        assertThat(ceiling.permitsName("8.8.8.8")).as("judged as an address").isTrue();
        assertThat(Egress.open().reaches("evil.test", address("8.8.8.8"), 443, ceiling))
                .isFalse();
        assertThat(Egress.open().reaches("good.test", address("8.8.8.8"), 443, ceiling))
                .isTrue();
        assertThat(Egress.open().reaches("good.test", null, 443, ceiling)).isTrue();
    }

    private static Egress egress(List<String> allow, List<String> deny) {
        return new Egress(true, allow, deny, Map.of(), null, false, false);
    }

    private static InetAddress address(String literal) {
        return InetAddress.ofLiteral(literal);
    }
}
