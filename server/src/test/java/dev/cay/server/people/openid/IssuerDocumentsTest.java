package dev.cay.server.people.openid;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

@Fast
final class IssuerDocumentsTest {
    private static final URI ISSUER = URI.create("https://login.example.org");

    /// @param plain the endpoint that is named without TLS
    private static OIDCProviderMetadata metadata(String plain) throws Exception {
        var about = new LinkedHashMap<String, Object>();
        about.put("issuer", ISSUER.toString());
        about.put("subject_types_supported", List.of("public"));
        for (String name : List.of("authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint")) {
            about.put(name, (name.equals(plain) ? "http" : "https") + "://login.example.org/" + name);
        }
        return OIDCProviderMetadata.parse(JsonMapper.shared().writeValueAsString(about));
    }

    /// The client's secret, codes and keys would cross the network in the clear.
    @ParameterizedTest
    @ValueSource(strings = {"authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"})
    void anEndpointWithoutTlsIsRefused(String name) throws Exception {
        var told = metadata(name);
        assertThatThrownBy(() -> IssuerDocuments.requireSecure(ISSUER, told))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("http://login.example.org/" + name);
    }

    @Test
    void endpointsWithTlsAreTaken() throws Exception {
        var told = metadata("none");
        assertThatCode(() -> IssuerDocuments.requireSecure(ISSUER, told)).doesNotThrowAnyException();
    }
}
