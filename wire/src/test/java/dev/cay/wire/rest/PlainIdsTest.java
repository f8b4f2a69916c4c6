package dev.cay.wire.rest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.BuildId;
import dev.cay.wire.TeamId;
import dev.cay.wire.TemplateId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

/// Clients read ids as strings, in records and in maps.
@Fast
class PlainIdsTest {
    private final JsonMapper json = new JsonMapper();

    @Test
    void idsOfATemplateAndItsBuildsArePlainStrings() {
        var at = Instant.parse("2026-01-31T10:00:00Z");
        var build = new TemplateWithBuilds.Build(new BuildId("b1"), "ready", at, at, at, 1, 2, 3, "0.2.0");
        var template = new TemplateWithBuilds(
                new TemplateId("t1"), true, List.of("base"), List.of("base"), at, at, null, 0, 0, List.of(build));
        String text = json.writeValueAsString(template);
        assertThat(text).contains("\"templateID\":\"t1\"").contains("\"buildID\":\"b1\"");
        assertThat(json.readValue(text, TemplateWithBuilds.class)).isEqualTo(template);
    }

    @Test
    void theIdOfATeamIsAPlainString() {
        var team = new TeamInfo(new TeamId("m1"), "default", "key", true);
        String text = json.writeValueAsString(team);
        assertThat(text).contains("\"teamID\":\"m1\"");
        assertThat(json.readValue(text, TeamInfo.class)).isEqualTo(team);
    }

    @Test
    void idsInAMapAreWrittenLikeStrings() {
        assertThat(json.writeValueAsString(Map.of("id", new TeamId("m1")))).isEqualTo("{\"id\":\"m1\"}");
        assertThat(json.writeValueAsString(Map.of("id", new BuildId("b1")))).isEqualTo("{\"id\":\"b1\"}");
        assertThat(new TeamId("m1") + ":" + new BuildId("b1")).isEqualTo("m1:b1");
    }
}
