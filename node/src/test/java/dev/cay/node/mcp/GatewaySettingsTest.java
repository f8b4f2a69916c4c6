package dev.cay.node.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.mcp.catalog.Catalog;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.catalog.ServerPlan;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.JsonNodeFactory;

@Fast
final class GatewaySettingsTest {
    private static final CustomServers CUSTOM = new CustomServers("https://git.example/");

    private static List<ServerPlan> plans(String config) {
        var plans = settings(config).plans(Catalog.builtIn(), CUSTOM);
        GatewaySettings.requireNoMistake(plans);
        return plans.stream().map(GatewaySettings.Planned::plan).toList();
    }

    private static GatewaySettings settings(String config) {
        return GatewaySettings.read(config.getBytes(StandardCharsets.UTF_8), "token", null);
    }

    @Test
    void becomePlans() {
        assertThat(plans("{\"notion\": {\"internalIntegrationToken\": \"ntn_1\"}}"))
                .singleElement()
                .satisfies(plan -> assertThat(plan.ways())
                        .extracting(way -> way.start().word())
                        .containsExactly("npm", "image"));
    }

    @Test
    void comeBackAsTheyWere() {
        var before = settings("{\"notion\": {\"internalIntegrationToken\": \"ntn_1\"}}");
        assertThat(GatewaySettings.of(before.bytes())).isEqualTo(before);
        assertThat(before.toString()).doesNotContain("ntn_1").doesNotContain("token");
        assertThat(GatewaySettings.of(GatewaySettings.read("{}".getBytes(StandardCharsets.UTF_8), "", "")
                                .bytes())
                        .token())
                .isNull();
    }

    @Test
    void keepTheChoiceOfMetaTools() {
        var chosen = GatewaySettings.read("{}".getBytes(StandardCharsets.UTF_8), "token", "only");
        assertThat(GatewaySettings.of(chosen.bytes()).metaTools()).isEqualTo(MetaChoice.ONLY);
        assertThat(settings("{}").metaTools()).isNull();
        assertThatThrownBy(() -> GatewaySettings.read("{}".getBytes(StandardCharsets.UTF_8), "token", "yes"))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("--meta-tools must be off, on or only");
    }

    /// As they were sealed before there was such a choice.
    @Test
    void areReadWithoutTheChoice() {
        var old = "{\"token\": \"t\", \"servers\": {\"tavily\": {\"apiKey\": \"k\"}}}";
        var settings = GatewaySettings.of(old.getBytes(StandardCharsets.UTF_8));
        assertThat(settings.metaTools()).isNull();
        assertThat(settings.token()).isEqualTo("t");
        assertThat(settings.plans(Catalog.builtIn(), CUSTOM)).hasSize(1);
    }

    @Test
    void haveAtMostThirtyTwoServersHoweverTheyCame() {
        var options = JsonNodeFactory.instance.objectNode();
        var settings = settings("{}");
        for (int i = 0; i < 32; i++) {
            settings = settings.with("s" + i, options);
        }
        var full = settings;
        assertThatThrownBy(() -> full.with("one-more", options)).hasMessageContaining("at most 32");
        assertThatThrownBy(() -> full.with("s1", options)).hasMessageContaining("exists already");
        assertThatThrownBy(() -> full.without("one-more")).hasMessageContaining("removed");
        assertThat(full.without("s1").with("one-more", options).servers().size())
                .isEqualTo(32);
        assertThatThrownBy(() -> settings("{}")
                        .with("large", JsonNodeFactory.instance.objectNode().put("x", "y".repeat(1 << 20))))
                .hasMessageContaining("1 MiB");
    }

    @Test
    void sayAllThatIsWrongAndNeverAValue() {
        refused("{", "not valid JSON");
        refused("[]", "must be an object");
        assertThatThrownBy(() ->
                        plans("{\"notin\": {\"a\": \"s3cret\"}, \"tavily\": {}, \"aks\": {\"azureDir\": \"s3cret\"}}"))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("notion")
                .hasMessageContaining("mcp.tavily.apiKey")
                .hasMessageContaining("mcp.aks.kubeconfig")
                .hasMessageNotContaining("s3cret");
    }

    @Test
    void knowRepositories() {
        var plan = plans("""
                {"github/owner/repo": {"installCmd": "npm ci", "runCmd": "node dist/index.js --x", "envs": {"A": "b"}}}""").getFirst().ways().getFirst();
        assertThat(plan.name()).isEqualTo("github/owner/repo");
        assertThat(plan.environment()).containsEntry("A", "b");
        assertThat(plan.start())
                .isEqualTo(new LaunchPlan.Repository(
                        "github/owner/repo",
                        "https://git.example/owner/repo.git",
                        "npm ci",
                        List.of("node", "dist/index.js", "--x")));
        assertThat(plans("""
                {"github/owner/repo": {"install_cmd": "npm ci", "run_cmd": "node dist/index.js --x", "envs": {"A": "b"}}}""").getFirst().ways().getFirst())
                .as("as Python's client spells it")
                .isEqualTo(plan);
        refused("{\"github/owner/repo\": {}}", "mcp.github/owner/repo.runCmd is missing");
        refused("{\"github/owner/../x\": {\"runCmd\": \"x\"}}", "is no repository");
        refused("{\"github/a/..\": {\"runCmd\": \"x\"}}", "is no repository");
        refused("{\"github/a/b\": {\"runCmd\": 7}}", "runCmd must be a text");
        refused("{\"github/a/b\": {\"runCmd\": \"x\", \"installCmd\": \"a\\u0000b\"}}", "installCmd must not hold");
        refused("{\"github/a/b\": {\"runCmd\": \"x\", \"envs\": {\"a b\": \"c\"}}}", "envs");
    }

    private static void refused(String config, String why) {
        assertThatThrownBy(() -> plans(config)).isInstanceOf(CayException.class).hasMessageContaining(why);
    }
}
