package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.NeedsRoot;
import dev.cay.wire.SandboxId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The command `mcp-gateway` in a sandbox of the base template, which has nothing for gateways.
@Timeout(180)
@NeedsRoot
class GatewayCommandTest {
    private static final String ID = "plain";
    private static final String AS_NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups ";

    private TestNode.Place place;
    private TestNode node;

    @BeforeEach
    void begin() throws Exception {
        place = TestNode.Place.make();
        node = new TestNode(place);
        node.keepers.create(TestNode.spec(ID));
    }

    @AfterEach
    void end() throws Exception {
        node.keepers.kill(new SandboxId(ID));
        try (var _ = place) {
            node.close();
        }
    }

    private String run(String script) throws Exception {
        return node.run(ID, "sudo -n true 2>/dev/null && S=sudo; " + script);
    }

    @Test
    void beginsAGatewayThatOtherUsersSeeAndCannotReplace() throws Exception {
        assertThat(run("mcp-gateway status; true")).contains("this sandbox has no MCP gateway");
        assertThat(run("$S mcp-gateway --config '{}' --token first && echo begun"))
                .contains("begun");
        assertThat(run("$S stat -c '%a %U' /etc/mcp-gateway/.token")).contains("600 root");
        assertThat(run("$S %s mcp-gateway status".formatted(AS_NOBODY))).contains("servers");
        assertThat(run("$S %s mcp-gateway --config '{}' --token mine --save-token=false; true".formatted(AS_NOBODY)))
                .contains("only who knows its token can change it");
        assertThat(run("$S %s mcp-gateway pull notion; true".formatted(AS_NOBODY)))
                .contains("only who knows its token can change it");
        assertThat(run("$S mcp-gateway --config '{}' --token second && $S cat /etc/mcp-gateway/.token"))
                .contains("second");
        assertThat(run("$S mcp-gateway --config nothing; true")).contains("mcp-gateway: --config is not valid JSON");
    }

    @Test
    void cannotBeChangedInside() throws Exception {
        assertThat(run("$S sh -c 'echo x > /usr/local/bin/mcp-gateway'; mcp-gateway --help | head -1"))
                .contains("Usage: mcp-gateway");
    }
}
