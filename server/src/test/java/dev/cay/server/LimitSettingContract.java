package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/// Limits are set, shown and kept, and wrong ones are refused by name.
interface LimitSettingContract extends LimitCalls {
    @Test
    default void limitsOutliveARestart() throws Exception {
        limit("{\"sandboxes\": 1}");
        String narrow = key("narrow", "{\"createsPerSecond\": 1}");
        cay().create();
        restart();
        refused(cay().call("POST", "/sandboxes", CREATE), "1 sandboxes at once");
        limit("{\"sandboxes\": null}");
        var last = untilRefused(() -> with(narrow, "POST", "/sandboxes", CREATE));
        refused(last, "may create 1 sandboxes per second");
    }

    @Test
    default void profilesAreStartingPoints() {
        limit("{\"profile\": \"pro\", \"sandboxes\": 200, \"diskMB\": 50000}");
        var limits = cay().call("GET", "/limits").json();
        assertThat(limits.get("source").stringValue()).isEqualTo("team");
        assertThat(limits.get("limits").toString())
                .isEqualTo(
                        "{\"sandboxes\":200,\"vcpus\":null,\"memoryMB\":null,\"diskMB\":50000,\"builds\":20,\"createsPerSecond\":5,\"apiCallsPer30s\":20000,\"operationsPerMinute\":40000}");
        assertThat(cay().admin("DELETE", "/admin/teams/%s/limits".formatted(team()), "")
                        .status())
                .isEqualTo(204);
        assertThat(cay().call("GET", "/limits").json().get("source").stringValue())
                .isEqualTo("default");
    }

    @Test
    default void wrongLimitsAreRefusedByName() {
        String path = "/admin/teams/%s/limits".formatted(team());
        wrong(path, "{\"sandboxes\": 0}", "'sandboxes' must be at least 1, or null for no limit");
        wrong(path, "{\"sandboxes\": \"many\"}", "'sandboxes' must be a whole number");
        wrong(path, "{\"sandbox\": 3}", "'sandbox' is not known here");
        wrong(path, "{\"profile\": \"gold\"}", "'profile' must be none, hobby or pro");
    }

    private void wrong(String path, String body, String part) {
        var answer = cay().admin("PUT", path, body);
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.message()).contains(part);
    }
}
