package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/// What a build made is published, sent, kept and deleted.
interface BuiltTemplateCases extends BuildCalls {
    @Test
    default void aTemplateIsSentAsAnImage() {
        var image = cay().call("GET", "/templates/base/image");
        assertThat(image.status()).isEqualTo(200);
        assertThat(image.text()).contains("name=base:latest", "layer1, layer0", "user=user");
        assertThat(cay().call("GET", "/templates/base/image?tag=none").status()).isEqualTo(404);
        assertThat(cay().call("GET", "/templates/nothing/image").status()).isEqualTo(404);
        var waiting = request("{\"name\":\"mine\"}");
        assertThat(cay().call(
                                "GET",
                                "/templates/%s/image"
                                        .formatted(waiting.get("templateID").stringValue()))
                        .status())
                .isEqualTo(404);
    }

    @Test
    default void aTemplateIsPublishedAndDeletedWhenNobodyUsesIt() throws Exception {
        var requested = request("{\"name\":\"mine\"}");
        begin(requested, "{\"fromTemplate\":\"base\"}", 202);
        ready(requested, "top");
        assertThat(cay().call("PATCH", "/v2/templates/mine", "{\"public\":true}")
                        .json()
                        .toString())
                .isEqualTo("{\"names\":[\"default/mine\"]}");
        assertThat(cay().call("GET", "/templates/aliases/mine")
                        .json()
                        .get("public")
                        .booleanValue())
                .isTrue();
        String sandbox = sandbox("mine").json().get("sandboxID").stringValue();
        var used = cay().call("DELETE", "/templates/mine");
        assertThat(used.status()).isEqualTo(400);
        assertThat(used.message()).contains("used by 1");
        cay().call("DELETE", "/sandboxes/" + sandbox);
        assertThat(cay().call("DELETE", "/templates/mine").status()).isEqualTo(204);
        assertThat(cay().call("GET", "/templates/mine").status()).isEqualTo(404);
        assertThat(cay().call("DELETE", "/templates/base").status()).isEqualTo(403);
    }

    @Test
    default void whatWasSavedGoesWhenNoTagPointsAtItAnyMore() throws Exception {
        for (String saved : List.of("bone", "btwo", "bthree")) {
            var requested = request("{\"name\":\"mine\"}");
            begin(requested, "{\"fromTemplate\":\"base\",\"startCmd\":\"serve\"}", 202);
            ready(requested, saved, saved);
            if (saved.equals("bone")) {
                assertThat(cay().call("POST", "/templates/tags", "{\"target\":\"mine\",\"tags\":[\"kept\"]}")
                                .status())
                        .isEqualTo(201);
            }
        }
        assertThat(cay().node.deleted).containsExactly("btwo");
        cay().call("DELETE", "/templates/tags", "{\"name\":\"mine\",\"tags\":[\"kept\"]}");
        assertThat(cay().node.deleted).containsExactly("btwo", "bone");
        assertThat(cay().call("DELETE", "/templates/mine").status()).isEqualTo(204);
        assertThat(cay().node.deleted).containsExactly("btwo", "bone", "bthree");
    }

    @Test
    default void onlyTheLastBuildsThatNobodyCanUseAreKept() throws Exception {
        for (int i = 0; i < 25; i++) {
            var requested = request("{\"name\":\"mine\"}");
            begin(requested, "{\"fromTemplate\":\"base\"}", 202);
            ready(requested, "layer" + i);
        }
        assertThat(cay().call("GET", "/templates/mine").json().get("builds").size())
                .isEqualTo(21);
        assertThat(sandbox("mine").status()).isEqualTo(201);
    }
}
