package dev.cay.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Whose address a request has that came by proxies.
@Fast
final class TrustedProxiesTest {
    private final TrustedProxies proxies = new TrustedProxies(List.of("10.1.0.0/16", "127.0.0.1", "fd00::/8"));

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            10.1.2.3  | 203.0.113.7                            | 203.0.113.7
            127.0.0.1 | 203.0.113.7                            | 203.0.113.7
            fd00::1   | 2001:db8::7                            | 2001:db8:0:0:0:0:0:7
            10.1.2.3  | 198.51.100.1, 203.0.113.7              | 203.0.113.7
            10.1.2.3  | 198.51.100.1, 203.0.113.7, 10.1.9.9    | 203.0.113.7
            10.1.2.3  | 10.1.9.9, 10.1.9.8                     | 10.1.9.9
            10.1.2.3  | 203.0.113.7:5555                       | 203.0.113.7
            10.1.2.3  | [2001:db8::7]:5555                     | 2001:db8:0:0:0:0:0:7
            10.1.2.3  | ''                                     | 10.1.2.3
            10.1.2.3  | unknown                                | 10.1.2.3
            10.1.2.3  | localhost                              | 10.1.2.3
            10.1.2.3  | 203.0.113.7, nonsense                  | 10.1.2.3
            10.1.2.3  | 203.0.113.7, nonsense, 10.1.9.9        | 10.1.9.9
            192.0.2.1 | 203.0.113.7                            | 192.0.2.1
            10.2.0.1  | 10.1.2.3                               | 10.2.0.1
            """)
    void theHeaderIsReadFromItsEndAsFarAsProxiesAreTrusted(String peer, String forwarded, String client) {
        assertThat(proxies.client(peer, List.of(forwarded))).isEqualTo(client);
    }

    @Test
    void severalHeadersAreOneList() {
        assertThat(proxies.client("10.1.2.3", List.of("198.51.100.1", "203.0.113.7, 10.1.9.9")))
                .isEqualTo("203.0.113.7");
        assertThat(proxies.client("10.1.2.3", List.of())).isEqualTo("10.1.2.3");
        assertThat(new TrustedProxies(List.of()).client("127.0.0.1", List.of("203.0.113.7")))
                .isEqualTo("127.0.0.1");
    }
}
