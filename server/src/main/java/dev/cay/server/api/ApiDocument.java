package dev.cay.server.api;

import dev.cay.http.Exchange;
import dev.cay.http.Json;
import dev.cay.http.Routes;
import dev.cay.wire.CayVersion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The description of all routes of the API, in the form of OpenAPI 3.1. It is made when somebody first asks for it.
public final class ApiDocument {
    private static final String PATH = "/openapi.json";
    private static final LoadSettings YAML =
            LoadSettings.builder().setAllowDuplicateKeys(false).build();

    private byte @Nullable [] json;

    public void addTo(Routes routes) {
        routes.on("GET", PATH, this::send);
    }

    private void send(Exchange exchange) {
        exchange.with("Cache-Control", "no-cache").send(200, "application/json", json());
    }

    private synchronized byte[] json() {
        if (json == null) {
            json = Json.write(make());
        }
        return json;
    }

    /// Puts the document together.
    static ObjectNode make() {
        var document = Json.mapper().createObjectNode();
        document.put("openapi", "3.1.0");
        var common = file("common");
        var info = (ObjectNode) common.get("info").deepCopy();
        document.set("info", info.put("version", CayVersion.text()));
        document.putArray("servers").addObject().put("url", "/").put("description", "this Cay");
        var tags = document.putArray("tags");
        var paths = document.putObject("paths");
        var components = document.putObject("components");
        components.set("securitySchemes", common.get("securitySchemes"));
        var schemas = components.putObject("schemas");
        addTypes(common, schemas);
        var parameters = file("parameters");
        for (String name : areas()) {
            var area = file(name);
            String title = TypeText.text(area, "title");
            tags.addObject().put("name", title).put("description", TypeText.text(area, "about"));
            addTypes(area, schemas);
            var routes = new RouteText(title, area.path("refuses").asString("Error"), parameters);
            for (var route : area.get("routes").properties()) {
                String[] methodAndPath = route.getKey().split(" ", 2);
                String path = methodAndPath[1];
                var operations = paths.has(path) ? (ObjectNode) paths.get(path) : paths.putObject(path);
                operations.set(
                        methodAndPath[0].toLowerCase(Locale.ROOT),
                        routes.operation(methodAndPath[0], path, route.getValue()));
            }
        }
        return document;
    }

    private static void addTypes(JsonNode area, ObjectNode schemas) {
        for (var type : area.path("types").properties()) {
            if (schemas.has(type.getKey())) {
                throw new IllegalStateException("the type %s is described twice".formatted(type.getKey()));
            }
            schemas.set(type.getKey(), TypeText.schema(type.getValue()));
        }
    }

    private static List<String> areas() {
        var areas = new ArrayList<String>();
        read("areas.txt")
                .lines()
                .filter(line -> !line.startsWith("#") && !line.isBlank())
                .forEach(areas::add);
        return areas;
    }

    private static JsonNode file(String name) {
        return Json.mapper().valueToTree(new Load(YAML).loadFromString(read(name + ".yaml")));
    }

    private static String read(String name) {
        try (var in = ApiDocument.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException(name + " is missing in this build of Cay");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
