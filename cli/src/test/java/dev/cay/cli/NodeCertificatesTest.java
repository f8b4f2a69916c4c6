package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class NodeCertificatesTest {
    private static final String NAME = "NODE_EXTRA_CA_CERTS";

    @TempDir
    private Path directory = Path.of("unset");

    private Path cay = Path.of("unset");
    private Path proxy = Path.of("unset");

    @BeforeEach
    void makeCertificates() throws Exception {
        cay = Files.writeString(directory.resolve("ca.pem"), "CAY ONE\n");
        proxy = Files.writeString(directory.resolve("proxy.pem"), "PROXY\n");
    }

    @Test
    void whatIsThereIsKeptAndFoundAgain() throws Exception {
        Path both = Path.of(keep(proxy.toString()));
        assertThat(both).startsWith(directory.resolve(".cache/cay")).content().contains("PROXY", "CAY ONE");
        // The shell that has evaluated it asks again, also after another installation has another certificate.
        Files.writeString(cay, "CAY TWO\n");
        assertThat(keep(both.toString())).isEqualTo(both.toString());
        assertThat(both).content().containsOnlyOnce("PROXY").contains("CAY TWO").doesNotContain("CAY ONE");
        assertThat(proxy).content().isEqualTo("PROXY\n");
    }

    @Test
    void withoutOneThereIsCaysAlone() throws Exception {
        assertThat(keep("")).isEqualTo(cay.toString());
        assertThat(keep(cay.toString())).isEqualTo(cay.toString());
        assertThat(keep(directory.resolve("gone").toString())).isEqualTo(cay.toString());
        assertThat(directory.resolve(".cache")).doesNotExist();
    }

    private String keep(String present) throws Exception {
        var variables = new HashMap<>(Map.of(NAME, cay.toString()));
        NodeCertificates.keep(variables, Map.of("HOME", directory.toString(), NAME, present), "0");
        return variables.getOrDefault(NAME, "");
    }
}
