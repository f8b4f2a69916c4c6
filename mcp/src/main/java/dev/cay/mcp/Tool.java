package dev.cay.mcp;

import dev.cay.http.Json;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// One of the things a client can ask for.
///
/// @param answers the fields of its answer with their JSON types; those that may be missing end with a question mark
record Tool(
        String name, String title, String about, List<Parameter> parameters, Map<String, String> answers, Work work) {
    /// What it does; blocks, and ends when its thread is interrupted.
    interface Work {
        Answer on(Arguments arguments, Progress progress);
    }

    Tool {
        parameters = List.copyOf(parameters);
    }

    JsonNode described() {
        var tool = Json.mapper().createObjectNode();
        tool.put("name", name).put("title", title).put("description", about);
        var input = tool.putObject("inputSchema").put("type", "object");
        input.putObject("properties");
        parameters.forEach(parameter -> parameter.describe(input));
        var output = tool.putObject("outputSchema").put("type", "object");
        output.putObject("properties");
        answers.forEach((field, type) -> describe(output, field, type));
        return tool;
    }

    private static void describe(ObjectNode schema, String field, String type) {
        boolean optional = field.endsWith("?");
        String name = optional ? field.substring(0, field.length() - 1) : field;
        schema.withObject("properties").putObject(name).put("type", type);
        if (!optional) {
            schema.withArray("required").add(name);
        }
    }

    /// Everything that is wrong with what was given, in one sentence; empty when nothing is.
    String problems(JsonNode arguments) {
        return String.join(
                "; ",
                parameters.stream()
                        .flatMap(parameter -> parameter.problem(arguments).stream())
                        .toList());
    }

    /// What a client gave, already checked.
    record Arguments(Tool tool, JsonNode given) {
        String text(String name) {
            return given.path(name).asString("");
        }

        boolean has(String name) {
            return given.path(name).isString() && !text(name).isEmpty();
        }

        int number(String name) {
            return given.path(name).isNumber() ? given.path(name).asInt() : (Integer) usual(name);
        }

        boolean flag(String name) {
            return given.path(name).isBoolean() ? given.path(name).asBoolean() : (Boolean) usual(name);
        }

        private Object usual(String name) {
            return tool.parameters.stream()
                    .filter(parameter -> parameter.name().equals(name))
                    .map(Parameter::usual)
                    .findFirst()
                    .orElseThrow();
        }
    }

    /// Tells the client that there is still something going on.
    interface Progress {
        void say(String what);
    }
}
