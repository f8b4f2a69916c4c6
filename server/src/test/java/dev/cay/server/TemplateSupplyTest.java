package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.NodeTemplate.State;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.StartCommand;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// Templates that come with Cay, before and after the node has made them.
@Fast
final class TemplateSupplyTest extends ServerTest {
    private static final String NAME = "code-interpreter-v1";
    private static final Resources RESOURCES = new Resources(2, 512, 10240);
    private static final String CREATE = "{\"templateID\":\"" + NAME + "\"}";

    private void begin(List<String> prepare) {
        cay.server.supply().start(RESOURCES, prepare, List.of());
    }

    private JsonNode template() {
        for (var template : cay.call("GET", "/v2/templates").json()) {
            if (template.get("aliases").get(0).stringValue().equals(NAME)) {
                return template;
            }
        }
        throw new AssertionError("not listed");
    }

    @Test
    void saysHowFarItIsUntilItIsReady() {
        cay.made.put(NAME, State.BUILDING, "43 %, installing packages r-base-core");
        begin(List.of(NAME));
        assertThat(cay.made.asked).containsExactly(NAME);
        assertThat(template().get("buildStatus").stringValue()).isEqualTo("building");

        var refused = cay.call("POST", "/v2/sandboxes", CREATE);
        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.json().get("message").stringValue())
                .contains(NAME, "43 %, installing packages r-base-core", "try again");

        cay.made.put(NAME, State.READY, "", "runners", "tree");
        assertThat(template().get("buildStatus").stringValue()).isEqualTo("ready");
        var id = new SandboxId(cay.create(CREATE).get("sandboxID").stringValue());
        assertThat(cay.node.running.get(id).resources().memoryMB()).isEqualTo(FakeTemplates.MEMORY_MB);
        assertThat(cay.node.running.get(id).layers()).containsExactly("runners", "tree");
        assertThat(cay.node.calls)
                .as("some are started in advance from now on")
                .contains("expect " + template().get("templateID").stringValue());
    }

    @Test
    void isNotListedAsReadyWhileACreateIsRefused() {
        cay.made.put(NAME, State.BUILDING, "99 %");
        begin(List.of(NAME));
        cay.made.putSilently(NAME, State.READY, "", "runners", "tree");
        assertThat(cay.call("POST", "/v2/sandboxes", CREATE).status())
                .as("the template's layers are not on record")
                .isEqualTo(503);
        assertThat(template().get("buildStatus").stringValue()).isEqualTo("building");
        String builds = cay.call("GET", "/templates/" + NAME)
                .json()
                .get("builds")
                .get(0)
                .get("status")
                .stringValue();
        assertThat(builds).isEqualTo("building");
    }

    /// The first team owns these templates, but it asked for none of their builds.
    @Test
    void itsBuildIsNotCancelledAndDoesNotCountForTheFirstTeam() {
        cay.made.put(NAME, State.BUILDING, "3 %");
        begin(List.of(NAME));
        String team =
                cay.admin("GET", "/admin/teams", "").json().get(0).get("teamID").stringValue();
        assertThat(cay.admin("POST", "/admin/teams/%s/builds/cancel".formatted(team), "")
                        .text())
                .contains("\"cancelledCount\":0");
        String build = template().get("buildID").stringValue();
        var refused = cay.call("POST", "/templates/%s/builds/%s/cancel".formatted(NAME, build), "");
        assertThat(refused.status()).isEqualTo(409);
        assertThat(refused.message()).contains("comes with Cay");
        assertThat(template().get("buildStatus").stringValue()).isEqualTo("building");

        assertThat(cay.admin("PUT", "/admin/teams/%s/limits".formatted(team), "{\"builds\": 1}")
                        .status())
                .isEqualTo(200);
        var requested = cay.call("POST", "/v3/templates", "{\"name\": \"mine\"}");
        assertThat(requested.status()).as(requested.text()).isEqualTo(202);
        assertThat(cay.call("POST", "/v3/templates", "{\"name\": \"more\"}").status())
                .isEqualTo(429);
    }

    @Test
    void startsWhatTheTemplateHasRunning() {
        cay.made.start = new StartCommand("serve", "curl localhost", "user", null, Map.of());
        cay.made.put(NAME, State.ABSENT, "");
        begin(List.of());
        cay.made.put(NAME, State.READY, "", "tree");
        var id = new SandboxId(cay.create(CREATE).get("sandboxID").stringValue());
        assertThat(cay.node.running.get(id).start()).isEqualTo(cay.made.start);
    }

    @Test
    void saysWhyOneFailedWhileItWasWaitedFor() {
        cay.made.put(NAME, State.BUILDING, "it begins");
        begin(List.of());
        cay.made.whenAsked = () -> cay.made.put(NAME, State.FAILED, "no package for this kind of CPU");
        assertThat(cay.call("POST", "/v2/sandboxes", CREATE)
                        .json()
                        .get("message")
                        .stringValue())
                .contains("could not be made", "no package for this kind of CPU");
    }

    @Test
    void asksForOneThatNobodyPreparedAndSaysWhyItFailed() {
        cay.made.put(NAME, State.ABSENT, "");
        begin(List.of());
        assertThat(cay.made.asked).isEmpty();
        assertThat(template().get("buildStatus").stringValue()).isEqualTo("waiting");

        cay.made.put(NAME, State.FAILED, "the mirror does not answer");
        var refused = cay.call("POST", "/sandboxes", CREATE);
        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.text()).contains("the mirror does not answer");
        assertThat(cay.made.asked).containsExactly(NAME);
        assertThat(template().get("buildStatus").stringValue()).isEqualTo("error");
    }

    @Test
    void startsNoneInAdvanceOfOneThatNobodyWants() {
        cay.made.put(NAME, State.ABSENT, "");
        begin(List.of());
        cay.made.put(NAME, State.READY, "", "runners", "tree");
        String expected = "expect " + template().get("templateID").stringValue();
        assertThat(cay.node.calls).doesNotContain(expected);

        cay.create(CREATE);
        cay.create(CREATE);
        assertThat(cay.node.calls).containsOnlyOnce(expected);
    }

    @Test
    void goesOnWithWhatAnEarlierRunMadeAsLongAsItIsThere() throws Exception {
        cay.made.put(NAME, State.ABSENT, "");
        begin(List.of());
        cay.made.put(NAME, State.READY, "", "old", "tree");
        String id = template().get("templateID").stringValue();

        restart();
        cay.made.put(NAME, State.BUILDING, "1 %");
        begin(List.of(NAME));
        var sandbox = new SandboxId(cay.create(CREATE).get("sandboxID").stringValue());
        assertThat(cay.node.running.get(sandbox).layers()).containsExactly("old", "tree");
        cay.made.put(NAME, State.READY, "", "lost");

        restart();
        cay.made.put(NAME, State.BUILDING, "2 %");
        begin(List.of(NAME));
        assertThat(cay.call("POST", "/v2/sandboxes", CREATE).status()).isEqualTo(503);
        assertThat(template().get("templateID").stringValue())
                .as("a name keeps its id")
                .isEqualTo(id);
    }
}
