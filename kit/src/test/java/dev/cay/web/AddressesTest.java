package dev.cay.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What the node calls for its users, and what not.
@Fast
final class AddressesTest {
    private static final Addresses NONE = Addresses.allowing(List.of());

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0.0.0.0",
                "0.1.2.3",
                "10.0.0.1",
                "10.255.255.255",
                "100.64.0.1",
                "100.100.100.200",
                "100.127.255.255",
                "127.0.0.1",
                "127.255.0.1",
                "168.63.129.16",
                "169.254.169.254",
                "172.16.0.1",
                "172.31.255.255",
                "192.0.0.192",
                "192.88.99.1",
                "192.168.1.1",
                "198.18.0.1",
                "198.19.255.255",
                "224.0.0.1",
                "239.255.255.255",
                "255.255.255.255",
                "::",
                "::1",
                "::127.0.0.1",
                "::ffff:127.0.0.1",
                "::ffff:10.0.0.1",
                "::ffff:a9fe:a9fe",
                "64:ff9b::10.0.0.1",
                "64:ff9b::169.254.169.254",
                "64:ff9b:1::8.8.8.8",
                "2002:7f00:1::",
                "2001:0:1::1",
                "2001:db8::1",
                "fc00::1",
                "fd00:ec2::254",
                "fe80::1",
                "fec0::1",
                "ff02::1",
                "100::1",
                "4000::1"
            })
    void refusesWhatIsNotOfTheInternet(String address) {
        assertThat(NONE.allow("x.example", InetAddress.ofLiteral(address))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1.1.1.1",
                "9.255.255.255",
                "11.0.0.0",
                "100.63.255.255",
                "100.128.0.0",
                "169.253.255.255",
                "172.15.255.255",
                "172.32.0.0",
                "192.167.255.255",
                "223.255.255.255",
                "2606:4700::1",
                "2a00:1450::1",
                "::ffff:8.8.8.8",
                "64:ff9b::8.8.8.8"
            })
    void callsWhatIsPublic(String address) {
        assertThat(NONE.allow("x.example", InetAddress.ofLiteral(address))).isTrue();
    }

    @Test
    void callsWhatTheOperatorNames() {
        var some = Addresses.allowing(List.of("10.1.0.0/16", "192.168.7.7", "fd12::/16", "Wiki.corp", "*.lab.example"));
        var private4 = InetAddress.ofLiteral("10.9.9.9");
        assertThat(some.allow("x", InetAddress.ofLiteral("10.1.255.1"))).isTrue();
        assertThat(some.allow("x", InetAddress.ofLiteral("10.2.0.0"))).isFalse();
        assertThat(some.allow("x", InetAddress.ofLiteral("192.168.7.7"))).isTrue();
        assertThat(some.allow("x", InetAddress.ofLiteral("192.168.7.8"))).isFalse();
        assertThat(some.allow("x", InetAddress.ofLiteral("fd12:1::1"))).isTrue();
        assertThat(some.allow("x", InetAddress.ofLiteral("fd13::1"))).isFalse();
        assertThat(some.allow("WIKI.corp.", private4)).isTrue();
        assertThat(some.allow("evilwiki.corp", private4)).isFalse();
        assertThat(some.allow("a.lab.example", private4)).isTrue();
        assertThat(some.allow("lab.example", private4)).isFalse();
        assertThat(some.allow("evillab.example", private4)).isFalse();
    }
}
