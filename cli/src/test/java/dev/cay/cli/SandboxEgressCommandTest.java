package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.http.Json;
import dev.cay.testing.Fast;
import java.util.List;
import org.junit.jupiter.api.Test;

@Fast
final class SandboxEgressCommandTest {
    @Test
    void suggestsRulesThatAllowWhatWasTried() {
        var seen = Json.mapper().readTree("""
                {"entries": [
                  {"protocol": "tls", "name": "b.test", "address": "6.6.6.2", "port": 443, "allowed": true},
                  {"protocol": "dns", "name": "a.test", "address": null, "port": 53, "allowed": false},
                  {"protocol": "tls", "name": "b.test", "address": "6.6.6.3", "port": 443, "allowed": false},
                  {"protocol": "tcp", "name": null, "address": "6.6.6.4", "port": 5432, "allowed": false},
                  {"protocol": "dns", "name": "a?b.test", "address": null, "port": 53, "allowed": false},
                  {"protocol": "dns", "name": "1.2.3.4", "address": null, "port": 53, "allowed": false},
                  {"protocol": "dns", "name": "-x.test", "address": null, "port": 53, "allowed": false},
                  {"protocol": "tls", "name": "x?.test", "address": "6.6.6.5", "port": 443, "allowed": false}]}
                """);
        assertThat(SandboxEgressCommand.rules(seen))
                .containsEntry("allowOut", List.of("6.6.6.4:5432", "6.6.6.5:443", "a.test", "b.test"))
                .containsEntry("denyOut", List.of("0.0.0.0/0"));
    }
}
