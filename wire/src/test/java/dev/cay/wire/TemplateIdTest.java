package dev.cay.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.SandboxKind;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

@Fast
class TemplateIdTest {
    /// Nodes have it in files that an older Cay wrote, or a newer one reads.
    @Test
    void isAPlainStringInJson() {
        var json = new JsonMapper();
        var kind = new SandboxKind(new TemplateId("base"), List.of(), new Resources(1, 2, 3));
        String text = json.writeValueAsString(kind);
        assertThat(text).contains("\"templateId\":\"base\"");
        assertThat(json.readValue(text, SandboxKind.class)).isEqualTo(kind);
    }
}
