package dev.cay.node.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.http.Json;
import dev.cay.testing.Fast;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

@Fast
final class ServerListingTest {
    /// With `'` for `"`.
    private static ObjectNode tree(String json) {
        return (ObjectNode) Json.mapper().readTree(json.replace('\'', '"'));
    }

    private static void becomes(String listed, String offered) {
        assertThat(ServerListing.acceptable(tree(listed))).isEqualTo(tree(offered));
    }

    @Test
    void aToolWithoutASchemaOfObjectsIsOfferedWithOne() {
        becomes("{'name':'a'}", "{'name':'a','inputSchema':{'type':'object'}}");
        becomes("{'name':'a','inputSchema':null}", "{'name':'a','inputSchema':{'type':'object'}}");
        becomes(
                "{'name':'a','inputSchema':{'$schema':'x','oneOf':[]},'outputSchema':{'type':'string'}}",
                "{'name':'a','inputSchema':{'$schema':'x','oneOf':[],'type':'object'}}");
    }

    @Test
    void aToolThatIsAsItShouldBeStaysSo() {
        String tool = "{'name':'a','inputSchema':{'type':'object','properties':{'b':{'type':'string'}}},"
                + "'outputSchema':{'type':'object'},'execution':{'taskSupport':'optional'}}";
        becomes(tool, tool);
    }
}
