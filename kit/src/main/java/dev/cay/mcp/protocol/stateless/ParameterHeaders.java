package dev.cay.mcp.protocol.stateless;

import dev.cay.http.Exchange;
import dev.cay.mcp.protocol.Message;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/// Arguments of tools that clients repeat in headers, because the tool's schema marks them with `x-mcp-header`.
final class ParameterHeaders {
    private static final int DEEPEST = 16;

    private final Map<String, List<Marked>> byTool = new HashMap<>();

    private record Marked(String header, List<String> path, boolean number) {}

    /// @param tools as `tools/list` tells them
    void add(Iterable<JsonNode> tools) {
        for (var tool : tools) {
            var marked = new ArrayList<Marked>();
            find(tool.path("inputSchema"), List.of(), marked);
            if (!marked.isEmpty()) {
                byTool.put(tool.path("name").asString(""), List.copyOf(marked));
            }
        }
    }

    private static void find(JsonNode schema, List<String> path, List<Marked> marked) {
        if (path.size() > DEEPEST) {
            return;
        }
        for (var property : schema.path("properties").properties()) {
            var deeper = new ArrayList<>(path);
            deeper.add(property.getKey());
            var header = property.getValue().path("x-mcp-header");
            String type = property.getValue().path("type").asString("");
            if (header.isString() && header.asString().matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+")) {
                boolean number = type.equals("integer") || type.equals("number");
                marked.add(new Marked("Mcp-Param-" + header.asString(), List.copyOf(deeper), number));
            }
            find(property.getValue(), deeper, marked);
        }
    }

    /// Checks that each argument with a header has it; a header without its argument is ignored.
    void check(Exchange exchange, Message call) {
        String tool = call.params().path("name").asString("");
        for (var marked : byTool.getOrDefault(tool, List.of())) {
            var value = call.params().path("arguments");
            for (String step : marked.path) {
                value = value.path(step);
            }
            if (!value.isValueNode() || value.isNull()) {
                continue;
            }
            String header = exchange.header(marked.header);
            var decoded = header == null ? null : Envelope.decoded(header.strip());
            if (decoded == null || decoded.isEmpty() || !same(decoded.get(), value, marked.number)) {
                throw Envelope.mismatch("the header %s must be params.arguments.%s of the message"
                        .formatted(marked.header, String.join(".", marked.path)));
            }
        }
    }

    private static boolean same(String header, JsonNode value, boolean number) {
        if (number && value.isNumber() && header.matches("-?\\d{1,40}(\\.\\d{1,40})?")) {
            return new BigDecimal(header).compareTo(value.decimalValue()) == 0;
        }
        return header.equals(value.asString(""));
    }
}
