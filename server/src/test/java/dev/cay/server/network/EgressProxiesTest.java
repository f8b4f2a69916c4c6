package dev.cay.server.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.server.access.SandboxTokens;
import dev.cay.server.request.RequestBody;
import dev.cay.testing.Fast;
import dev.cay.web.Addresses;
import dev.cay.web.Dialer;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

/// Names are looked up in a map, so that no question leaves the machine.
@Fast
final class EgressProxiesTest {
    private static final Map<String, List<String>> NAMES = Map.of(
            "proxy.example.org",
            List.of("8.8.4.4"),
            "inside.example.org",
            List.of("10.7.7.7"),
            "both.example.org",
            List.of("8.8.4.4", "10.0.0.1"));

    @TempDir
    private Path directory;

    private EgressWish.Proxy read(String json) throws Exception {
        var rules =
                new Dialer.Rules(Addresses.allowing(List.of()), Set.of("10.7.7.7:1080"), true, "network.openAddresses");
        Dialer.Names names = host -> {
            var found = NAMES.get(host);
            if (found == null && !host.matches("[0-9.]+")) {
                throw new UnknownHostException(host);
            }
            return (found == null ? List.of(host) : found)
                    .stream().map(InetAddress::ofLiteral).toList();
        };
        try (var dialer = new Dialer(rules, names, SSLContext.getDefault())) {
            var tokens = SandboxTokens.open(directory.resolve("secret"), new SecureRandom());
            return new EgressProxies(dialer, new ProxyPasswords(tokens))
                    .read(
                            new TeamId("t"),
                            RequestBody.of(JsonMapper.shared().readTree("{\"egressProxy\":%s}".formatted(json))));
        }
    }

    @Test
    void aProxyOnTheInternetOrOneThatTheOperatorOpenedMayBeUsed() throws Exception {
        assertThat(read("{\"address\":\"Proxy.example.org:1080\",\"username\":\"\"}"))
                .isEqualTo(new EgressWish.Proxy("proxy.example.org:1080", null, null));
        assertThat(read("{\"address\":\"inside.example.org:1080\"}")).isNotNull();
        assertThat(read("{\"address\":\"10.7.7.7:1080\"}")).isNotNull();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            {}                                                            | 'address' is required
            {"address":"proxy.example.org"}                               | host:port
            {"address":"proxy.example.org:0"}                             | host:port
            {"address":"proxy.example.org:65536"}                         | host:port
            {"address":"socks5://proxy.example.org:1080"}                 | host:port
            {"address":"a b:1080"}                                        | host:port
            {"address":"nothing.example.org:1080"}                        | host name is not known
            {"address":"inside.example.org:1081"}                         | not a public address
            {"address":"both.example.org:1080"}                           | not a public address
            {"address":"127.0.0.1:1080"}                                  | not a public address
            {"address":"169.254.169.254:1080"}                            | not a public address
            {"address":"168.63.129.16:1080"}                              | not a public address
            {"address":"proxy.example.org:1080","password":"secretword"}  | needs a username
            """)
    void othersAreRefused(String json, String part) {
        assertThatThrownBy(() -> read(json))
                .isInstanceOfSatisfying(
                        CayException.class, e -> assertThat(e.kind()).isEqualTo(ErrorKind.INVALID_ARGUMENT))
                .hasMessageStartingWith("Invalid egress proxy config: ")
                .hasMessageContaining(part)
                .hasMessageNotContaining("secretword");
    }

    @Test
    void aLongCredentialIsRefused() {
        assertThatThrownBy(() ->
                        read("{\"address\":\"proxy.example.org:1080\",\"username\":\"%s\"}".formatted("u".repeat(256))))
                .hasMessageContaining("at most 255");
    }

    @Test
    void aPasswordIsOpenedByTheSameSecretAlone() throws Exception {
        var proxy = read("{\"address\":\"proxy.example.org:1080\",\"username\":\"u\",\"password\":\"secretword\"}");
        String sealed = String.valueOf(proxy.sealedPassword());
        assertThat(sealed).doesNotContain("secretword");
        var same = SandboxTokens.open(directory.resolve("secret"), new SecureRandom());
        assertThat(new ProxyPasswords(same).open(sealed)).isEqualTo("secretword");
        var other = SandboxTokens.open(directory.resolve("other"), new SecureRandom());
        assertThatThrownBy(() -> new ProxyPasswords(other).open(sealed))
                .hasMessageContaining("set 'egressProxy' again");
    }
}
