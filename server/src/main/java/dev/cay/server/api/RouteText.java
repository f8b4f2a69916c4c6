package dev.cay.server.api;

import dev.cay.http.Json;
import dev.cay.server.access.KeyScope;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// Writes the routes of one area as operations of OpenAPI.
final class RouteText {
    private static final Pattern PARAMETER = Pattern.compile("\\{([^/}]+)}");
    private static final String NOTHING = "nothing";
    private static final String ABSENT = "none or ";
    private static final String FAILED = "the server failed; 503 and 504 are worth another try";
    private static final String PAGE = "text/html";
    private static final String JSON = "application/json";

    private static final Map<Integer, String> USUAL_ANSWERS =
            Map.of(200, "Done", 201, "Made", 202, "Begun", 204, "Done", 303, "Elsewhere", 405, "Not for this method");

    /// The security schemes by which each kind of caller shows who it is; any one is enough.
    private static final Map<String, List<String>> WHO = Map.of(
            "key", List.of("apiKey", "bearer", "adminToken"),
            "admin", List.of("adminToken"),
            "operator", List.of("adminToken", "apiKey", "bearer"),
            "volume", List.of("volumeToken"),
            "browser", List.of("browser"),
            "link", List.of(),
            "everyone", List.of());

    private static final Map<String, Map<Integer, String>> USUAL_ERRORS = Map.of(
            "key",
                    Map.of(
                            400, "the operator names no team",
                            401, "the key is missing, unknown, revoked or expired",
                            404, "the operator names a team that is not there",
                            403, "the scope of the key does not allow this",
                            429, "too many requests of this key or team; `Retry-After` says when to try again"),
            "admin", Map.of(401, "the admin token is missing or wrong"),
            "operator",
                    Map.of(
                            401, "the admin token or key is missing or wrong",
                            403, "the key is of another team, or its scope is not all",
                            429, "too many requests of this key or team"),
            "volume",
                    Map.of(
                            401, "the token is missing, wrong or expired",
                            403, "the token is for reading",
                            429, "too many requests of this team"));

    private final String area;
    private final String refusal;
    private final JsonNode parameters;

    /// @param refusal    the type of errors
    /// @param parameters of paths, by name
    RouteText(String area, String refusal, JsonNode parameters) {
        this.area = area;
        this.refusal = refusal;
        this.parameters = parameters;
    }

    ObjectNode operation(String method, String path, JsonNode route) {
        requireOnly(method + " " + path, route);
        var operation = Json.mapper().createObjectNode();
        operation.putArray("tags").add(area);
        operation.put("operationId", id(method, path));
        operation.put("summary", TypeText.text(route, "does"));
        if (route.has("about")) {
            operation.put("description", route.get("about").stringValue());
        }
        if (route.path("own").asBoolean(false)) {
            operation.put("x-cay-own", true);
        }
        addAccess(operation, method, path, route);
        addParameters(operation, path, route);
        addBody(operation, route);
        addAnswers(operation.putObject("responses"), route);
        return operation;
    }

    private static void requireOnly(String name, JsonNode route) {
        var known = Set.of(
                "does", "about", "own", "page", "refuses", "who", "query", "headers", "pages", "body", "form",
                "answers", "errors");
        for (var field : route.properties()) {
            if (!known.contains(field.getKey())) {
                throw new IllegalStateException("%s has '%s', which is no word for a route".formatted(name, field));
            }
        }
    }

    private static String id(String method, String path) {
        return method.toLowerCase(Locale.ROOT)
                + Pattern.compile("[^A-Za-z0-9]+([A-Za-z0-9]?)")
                        .matcher(path)
                        .replaceAll(found -> found.group(1).toUpperCase(Locale.ROOT));
    }

    private static void addAccess(ObjectNode operation, String method, String path, JsonNode route) {
        String who = TypeText.text(route, "who");
        var schemes = WHO.get(who);
        if (schemes == null) {
            throw new IllegalStateException("%s %s is for '%s', which is nobody".formatted(method, path, who));
        }
        var security = operation.putArray("security");
        schemes.forEach(scheme -> security.addObject().putArray(scheme));
        operation.put("x-cay-who", who);
        if (who.equals("key")) {
            var scopes = operation.putArray("x-cay-scopes");
            KeyScope.allowing(method, path).forEach(scopes::add);
        }
    }

    private void addParameters(ObjectNode operation, String path, JsonNode route) {
        var all = operation.putArray("parameters");
        PARAMETER.matcher(path).results().forEach(found -> {
            var type = parameters.get(found.group(1));
            if (type == null) {
                throw new IllegalStateException("parameters.yaml does not describe {%s}".formatted(found.group(1)));
            }
            add(all, "path", found.group(1), type);
        });
        route.path("query").properties().forEach(one -> add(all, "query", one.getKey(), one.getValue()));
        if (route.path("pages").asBoolean(false)) {
            parameters.get("pages").properties().forEach(one -> add(all, "query", one.getKey(), one.getValue()));
        }
        route.path("headers").properties().forEach(one -> add(all, "header", one.getKey(), one.getValue()));
    }

    private static void add(ArrayNode all, String place, String name, JsonNode type) {
        var schema = TypeText.schema(type);
        var parameter = all.addObject();
        parameter.put("name", TypeText.bare(name)).put("in", place).put("required", !TypeText.isOptional(name));
        var about = schema.remove("description");
        if (about != null) {
            parameter.set("description", about);
        }
        parameter.set("schema", schema);
    }

    private static void addBody(ObjectNode operation, JsonNode route) {
        for (String kind : List.of("body", "form")) {
            var body = route.get(kind);
            if (body == null) {
                continue;
            }
            String text = body.isString() ? body.stringValue() : "";
            boolean absent = text.startsWith(ABSENT);
            var type = absent ? Json.mapper().getNodeFactory().stringNode(text.substring(ABSENT.length())) : body;
            var request = operation.putObject("requestBody").put("required", !absent);
            addContent(request, type, kind.equals("form") ? "application/x-www-form-urlencoded" : JSON);
        }
    }

    private void addAnswers(ObjectNode responses, JsonNode route) {
        for (var answer : route.get("answers").properties()) {
            addAnswer(responses, route, Integer.parseInt(answer.getKey()), answer.getValue());
        }
        var errors = new TreeMap<Integer, String>(USUAL_ERRORS.getOrDefault(TypeText.text(route, "who"), Map.of()));
        route.path("errors")
                .properties()
                .forEach(error -> errors.put(
                        Integer.parseInt(error.getKey()), error.getValue().stringValue()));
        var type =
                Json.mapper().getNodeFactory().stringNode(route.path("refuses").asString(refusal));
        errors.forEach((status, when) ->
                addContent(responses.putObject(status.toString()).put("description", when), type, JSON));
        addFailure(responses.putObject("default").put("description", FAILED), type.stringValue());
        if (route.path("page").asBoolean(false)) {
            addPages(responses);
        }
    }

    private static void addAnswer(ObjectNode responses, JsonNode route, int status, JsonNode type) {
        String text = type.isString() ? type.stringValue() : "";
        String about = TypeText.about(text);
        var response = responses.putObject(Integer.toString(status));
        response.put("description", about != null ? about : USUAL_ANSWERS.getOrDefault(status, "Done"));
        if (!TypeText.name(text).equals(NOTHING)) {
            addContent(response, type, JSON);
        }
        if (status == 200 && route.path("pages").asBoolean(false)) {
            var next = response.putObject("headers").putObject("X-Next-Token");
            next.put("description", "where the next page begins; absent on the last one");
            next.putObject("schema").put("type", "string");
        }
    }

    /// A failure that the routes of an area do not foresee is an Error, whatever type their errors have.
    private static void addFailure(ObjectNode response, String type) {
        var nodes = Json.mapper().getNodeFactory();
        addContent(response, nodes.stringNode("Error"), JSON);
        if (!type.equals("Error")) {
            var either = ((ObjectNode) response.at("/content/application~1json"))
                    .putObject("schema")
                    .putArray("anyOf");
            either.add(TypeText.schema(nodes.stringNode(type))).add(TypeText.schema(nodes.stringNode("Error")));
        }
    }

    /// Whatever has content may be a page for a browser.
    private static void addPages(ObjectNode responses) {
        for (var response : responses.properties()) {
            if (response.getValue().get("content") instanceof ObjectNode content) {
                content.putObject(PAGE).putObject("schema").put("type", "string");
            }
        }
    }

    /// @param type a media type with a slash, or a type of JSON
    private static void addContent(ObjectNode owner, JsonNode type, String usual) {
        String name = type.isString() ? TypeText.name(type.stringValue()) : "";
        var content = owner.putObject("content");
        if (name.contains("/")) {
            content.putObject(name).putObject("schema").put("type", "string");
        } else {
            var schema = TypeText.schema(type);
            if (type.isString()) {
                // It is about the answer, which has it already.
                schema.remove("description");
            }
            content.putObject(usual).set("schema", schema);
        }
    }
}
