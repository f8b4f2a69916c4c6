package dev.cay.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import org.eclipse.jetty.http.HttpField;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Fast
class CookieScopeTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            a=1; Domain=cay.localhost; Path=/        | a=1; Path=/
            a=1; Path=/; domain = .CAY.localhost     | a=1; Path=/
            a=1;Domain=localhost                     | a=1
            a=1; Domain=cay.localhost.; Secure       | a=1; Secure
            a=1; Domain=8000-i1.cay.localhost        | a=1
            a=1; Domain=x; Domain=cay.localhost      | a=1; Domain=x
            a=Domain=cay.localhost; Path=/           | a=Domain=cay.localhost; Path=/
            Domain=cay.localhost                     | Domain=cay.localhost
            a=1; Domain=other.example                | a=1; Domain=other.example
            a=1; Domain=ay.localhost                 | a=1; Domain=ay.localhost
            a=1; Domain=; HttpOnly                   | a=1; Domain=; HttpOnly
            a=1                                      | a=1
            """)
    void cookiesStayWithTheirHost(String sent, String passed) {
        var field = new HttpField("Set-Cookie", sent);
        assertThat(CookieScope.narrowed(field, "8000-i1.cay.localhost:8443").getValue())
                .isEqualTo(passed);
    }

    @ParameterizedTest
    @CsvSource({"X-Other, 'a=1; Domain=cay.localhost'"})
    void otherHeadersAreLeftAlone(String name, String value) {
        var field = new HttpField(name, value);
        assertThat(CookieScope.narrowed(field, "cay.localhost")).isSameAs(field);
    }
}
