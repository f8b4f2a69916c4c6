package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.cli.ClientEnvironment.Mode;
import dev.cay.cli.ClientEnvironment.Shell;
import dev.cay.cli.local.RunFile;
import dev.cay.testing.Fast;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

@Fast
final class ClientEnvironmentTest {
    private static final RunFile DAEMON =
            new RunFile(1, "1", "0", "http://127.0.0.1:3000", "cay.localhost:8443", "/s/ca.pem", "/s/bundle.pem", "/s");

    @Test
    void exportsBothWaysUnlessAskedForOne() {
        assertThat(ClientEnvironment.variables(DAEMON, "e2b_00", Mode.BOTH))
                .containsExactlyInAnyOrderEntriesOf(Map.of(
                        "E2B_API_KEY", "e2b_00",
                        "E2B_DOMAIN", "cay.localhost:8443",
                        "E2B_API_URL", "http://127.0.0.1:3000",
                        "E2B_SANDBOX_URL", "http://127.0.0.1:3000",
                        "E2B_VOLUME_API_URL", "http://127.0.0.1:3000",
                        "NODE_EXTRA_CA_CERTS", "/s/ca.pem",
                        "SSL_CERT_FILE", "/s/bundle.pem"));
        assertThat(ClientEnvironment.variables(DAEMON, "e2b_00", Mode.DOMAIN))
                .containsOnlyKeys("E2B_API_KEY", "E2B_DOMAIN", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE");
        assertThat(ClientEnvironment.variables(DAEMON, "e2b_00", Mode.URL))
                .containsKeys("E2B_API_URL", "E2B_SANDBOX_URL", "E2B_VOLUME_API_URL", "NODE_EXTRA_CA_CERTS")
                .doesNotContainKey("E2B_DOMAIN");
    }

    @Test
    void whatBashReadsIsWhatWasMeant() throws Exception {
        String hostile = "it's $(touch /nowhere) `id` \"x\" \\ *";
        String exports = ClientEnvironment.write(Map.of("CAY_TEST_VALUE", hostile), Shell.BASH);
        var bash = new ProcessBuilder(List.of("bash", "-c", exports + "\nprintf %s \"$CAY_TEST_VALUE\"")).start();
        String read = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(bash.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(read).isEqualTo(hostile);
    }

    @Test
    void fishHasItsOwnQuotes() {
        assertThat(ClientEnvironment.write(Map.of("A", "it's \\ x"), Shell.FISH))
                .isEqualTo("set -gx A 'it\\'s \\\\ x'");
    }

    @Test
    void jsonIsAnObject() {
        assertThat(ClientEnvironment.write(Map.of("A", "\"b\""), Shell.JSON)).isEqualToIgnoringWhitespace("""
                {"A": "\\"b\\""}""");
    }
}
