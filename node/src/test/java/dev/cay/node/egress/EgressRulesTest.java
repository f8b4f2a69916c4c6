package dev.cay.node.egress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.node.Egress;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

@Fast
final class EgressRulesTest {
    private static final InetSocketAddress WEB = place("6.6.6.2", 443);
    private static final List<String> ALL = List.of("0.0.0.0/0");

    @Test
    void judgesTlsByItsNameAndThenByItsAddress() {
        var rules = rules(List.of("a.test", "*.b.test", "c.test:8443", "7.7.7.0/24"), ALL, false);
        assertThat(route(rules, "a.test", WEB)).isEqualTo(Route.NAME);
        assertThat(route(rules, "x.a.test", WEB)).isEqualTo(Route.REFUSED);
        assertThat(route(rules, "y.x.b.test", WEB)).isEqualTo(Route.NAME);
        assertThat(route(rules, "b.test", WEB)).isEqualTo(Route.REFUSED);
        assertThat(route(rules, "evilb.test", WEB)).isEqualTo(Route.REFUSED);
        assertThat(route(rules, "c.test", WEB)).isEqualTo(Route.REFUSED);
        assertThat(route(rules, "c.test", place("6.6.6.2", 8443))).isEqualTo(Route.NAME);
        assertThat(route(rules, null, WEB)).isEqualTo(Route.REFUSED);
        assertThat(route(rules, null, place("7.7.7.7", 443))).isEqualTo(Route.ADDRESS);
        assertThat(route(rules, "evil.test", place("7.7.7.7", 443))).isEqualTo(Route.ADDRESS);
    }

    /// A name may have any address; an address by itself must be one that is open.
    @Test
    void neverTakesAClosedAddressForAnAllowedOne() {
        var rules = rules(List.of("10.0.0.0/8", "a.test"), ALL, false);
        var closed = place("10.1.2.3", 443);
        assertThat(rules.route(new FirstBytes.Other(), closed, () -> false)).isEqualTo(Route.REFUSED);
        assertThat(rules.route(new FirstBytes.Other(), closed, () -> true)).isEqualTo(Route.ADDRESS);
        assertThat(rules.route(new FirstBytes.Tls("a.test"), closed, () -> false))
                .isEqualTo(Route.NAME);
    }

    @Test
    void readsHttpRequestByRequestWhereNamesDecide() {
        var rules = rules(List.of("a.test", "7.7.7.7:80"), ALL, false);
        var http = new FirstBytes.Http("evil.test");
        assertThat(rules.route(http, WEB, () -> true)).isEqualTo(Route.REQUESTS);
        assertThat(rules.route(http, place("7.7.7.7", 80), () -> true)).isEqualTo(Route.ADDRESS);
        assertThat(rules.route(http, place("7.7.7.7", 81), () -> true)).isEqualTo(Route.REQUESTS);
        var addresses = rules(List.of("7.7.7.7"), ALL, false);
        assertThat(addresses.route(http, WEB, () -> true)).isEqualTo(Route.REFUSED);
    }

    @Test
    void opensTlsForRulesAndForInspection() {
        var transform = new Egress.Transform(Map.of("X", "y"), null);
        var egress = new Egress(true, List.of("a.test"), ALL, Map.of("a.test", transform), null, false, false);
        assertThat(route(new EgressRules(egress), "a.test", WEB)).isEqualTo(Route.OPENED_NAME);
        var inspected = rules(List.of("a.test", "6.6.6.2"), ALL, true);
        assertThat(route(inspected, "a.test", WEB)).isEqualTo(Route.OPENED_NAME);
        assertThat(route(inspected, null, WEB)).isEqualTo(Route.OPENED_ADDRESS);
        assertThat(route(inspected, "evil.test", WEB)).isEqualTo(Route.OPENED_ADDRESS);
        assertThat(route(inspected, "evil.test", place("6.6.6.3", 443))).isEqualTo(Route.REFUSED);
    }

    @Test
    void letsNothingPassWithoutInternetAccess() {
        var closed =
                new EgressRules(new Egress(false, List.of("*", "0.0.0.0/0"), List.of(), Map.of(), null, false, true));
        assertThat(route(closed, "a.test", WEB)).isEqualTo(Route.REFUSED);
        assertThat(closed.route(new FirstBytes.Http("a.test"), WEB, () -> true)).isEqualTo(Route.REFUSED);
        assertThat(closed.route(new FirstBytes.Other(), WEB, () -> true)).isEqualTo(Route.REFUSED);
    }

    private static EgressRules rules(List<String> allow, List<String> deny, boolean inspect) {
        return new EgressRules(new Egress(true, allow, deny, Map.of(), null, inspect, false));
    }

    private static Route route(EgressRules rules, String name, InetSocketAddress destination) {
        return rules.route(new FirstBytes.Tls(name), destination, () -> true);
    }

    private static InetSocketAddress place(String address, int port) {
        return new InetSocketAddress(InetAddress.ofLiteral(address), port);
    }
}
