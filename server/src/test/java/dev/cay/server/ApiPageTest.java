package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// The list of routes in docs/api.md is what the API's description says.
@Fast
final class ApiPageTest extends ServerTest {
    private static final Path PAGE = Path.of("../docs/api.md");
    private static final String END_OF_PROSE = "are in `/openapi.json`.\n";

    /// Where this test leaves the page as it should be.
    private static final Path WANTED = Path.of("target/api.md");

    @Test
    void thePageListsAllRoutes() throws IOException {
        String page = Files.readString(PAGE);
        int end = page.indexOf(END_OF_PROSE) + END_OF_PROSE.length();
        String wanted = page.substring(0, end) + "\n" + list(cay.described().document());
        Files.writeString(WANTED, wanted);
        assertThat(page).as("docs/api.md; copy server/%s over it", WANTED).isEqualTo(wanted);
    }

    private static String list(JsonNode document) {
        var areas = new ArrayList<String>();
        for (var area : document.get("tags")) {
            String name = area.get("name").stringValue();
            areas.add("### %s\n\n%s\n\n| route | what it does | for |\n|---|---|---|\n%s"
                    .formatted(name, area.get("description").stringValue(), String.join("", rows(document, name))));
        }
        return String.join("\n", areas);
    }

    private static List<String> rows(JsonNode document, String area) {
        var rows = new ArrayList<String>();
        for (var path : document.get("paths").properties()) {
            for (var operation : path.getValue().properties()) {
                var known = operation.getValue();
                if (known.at("/tags/0").stringValue().equals(area)) {
                    rows.add("| `%s %s`%s | %s | %s |\n"
                            .formatted(
                                    operation.getKey().toUpperCase(Locale.ROOT),
                                    path.getKey(),
                                    known.has("x-cay-own") ? " +" : "",
                                    known.get("summary").stringValue(),
                                    who(known)));
                }
            }
        }
        return rows;
    }

    private static String who(JsonNode operation) {
        return switch (operation.get("x-cay-who").stringValue()) {
            case "key" ->
                "keys: "
                        + String.join(
                                ", ",
                                operation.get("x-cay-scopes").values().stream()
                                        .map(JsonNode::stringValue)
                                        .toList());
            case "admin" -> "the operator";
            case "operator" -> "the operator, or keys of the first team: all";
            case "volume" -> "the volume's token";
            case "browser" -> "a signed-in browser";
            case "link" -> "the link";
            case "everyone" -> "everyone";
            default -> throw new AssertionError(operation);
        };
    }
}
