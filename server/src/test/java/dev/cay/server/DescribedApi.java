package dev.cay.server;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Finds what in a request and its answer differs from the API's description.
final class DescribedApi {
    private static final JsonMapper JSON = JsonMapper.shared();
    private static final String JSON_TYPE = "application/json";

    private record Described(String path, Pattern pattern, JsonNode operations) {}

    /// @param contentType null if there is none
    record Call(
            String method,
            String path,
            String body,
            int status,
            @Nullable String contentType,
            String answer) {}

    private final JsonNode document;
    private final List<Described> paths = new ArrayList<>();

    DescribedApi(String json) {
        document = JSON.readTree(json);
        for (var path : document.get("paths").properties()) {
            String pattern = Pattern.quote(path.getKey()).replaceAll("\\{[^/}]+}", "\\\\E[^/]+\\\\Q");
            paths.add(new Described(path.getKey(), Pattern.compile(pattern), path.getValue()));
        }
    }

    JsonNode document() {
        return document;
    }

    /// What is wrong; empty if nothing is, or if there is no such route.
    List<String> problems(Call call) {
        var described = find(call.path());
        var operation =
                described.map(path -> path.operations().get(call.method().toLowerCase(Locale.ROOT)));
        if (operation.isEmpty()) {
            return List.of();
        }
        var problems = new ArrayList<String>();
        if (call.status() / 100 == 2) {
            problems.addAll(request(operation.get(), call));
        }
        problems.addAll(answer(operation.get(), call));
        return problems.stream()
                .map(problem ->
                        "%s %s, %d: %s".formatted(call.method(), described.get().path(), call.status(), problem))
                .toList();
    }

    /// Parts without a parameter win, as for the server.
    private Optional<Described> find(String pathAndQuery) {
        String path = pathAndQuery.replaceFirst("[?#].*", "").replaceFirst("(.)/$", "$1");
        return paths.stream()
                .filter(known -> known.pattern().matcher(path).matches())
                .min(Comparator.comparing(known -> known.path().replace('{', '~')));
    }

    /// A request that was accepted. Fields that are not described are ignored by the server.
    private List<String> request(JsonNode operation, Call call) {
        var schema = operation.at("/requestBody/content/application~1json/schema");
        if (schema.isMissingNode() || call.body().isEmpty()) {
            return List.of();
        }
        return new JsonCheck(document, false)
                .problems(schema, JSON.readTree(call.body())).stream()
                        .map(problem -> "the body " + problem)
                        .toList();
    }

    private List<String> answer(JsonNode operation, Call call) {
        var responses = operation.get("responses");
        var response = responses.get(Integer.toString(call.status()));
        if (response == null) {
            if (call.status() < 500) {
                return List.of("the status is not described: " + call.answer());
            }
            response = responses.get("default");
        }
        if (call.method().equals("HEAD")) {
            return List.of();
        }
        var content = response.get("content");
        if (content == null) {
            return call.answer().isEmpty() ? List.of() : List.of("the answer must be empty, not " + call.answer());
        }
        String type = String.valueOf(call.contentType()).replaceFirst(";.*", "");
        var described = content.get(type);
        if (described == null) {
            return List.of("the answer must be of %s, not %s".formatted(names(content), type));
        }
        return type.equals(JSON_TYPE) ? json(described.get("schema"), call.answer()) : List.of();
    }

    private List<String> json(JsonNode schema, String text) {
        try {
            return new JsonCheck(document, true).problems(schema, JSON.readTree(text));
        } catch (JacksonException _) {
            return List.of("the answer is no JSON");
        }
    }

    private static List<String> names(JsonNode node) {
        return node.properties().stream().map(Map.Entry::getKey).toList();
    }
}
