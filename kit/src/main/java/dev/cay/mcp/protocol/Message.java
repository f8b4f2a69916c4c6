package dev.cay.mcp.protocol;

import dev.cay.http.Json;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/// One JSON-RPC message in either direction.
public record Message(ObjectNode tree) {
    /// The kind of a message: request, notification or response.
    public enum Kind {
        REQUEST,
        NOTIFICATION,
        RESPONSE
    }

    /// Parses a message. Refuses text that is not JSON, and JSON that is not a message.
    public static Message parse(byte[] json) {
        JsonNode tree;
        try {
            tree = Json.mapper().readTree(json);
        } catch (JacksonException e) {
            throw new RpcException(RpcException.PARSE_ERROR, "this is not valid JSON");
        }
        if (!(tree instanceof ObjectNode object)) {
            throw new RpcException(RpcException.INVALID_REQUEST, "a message must be an object, and only one");
        }
        var message = new Message(object);
        message.check();
        return message;
    }

    private void check() {
        if (!"2.0".equals(tree.path("jsonrpc").asString(""))) {
            throw new RpcException(RpcException.INVALID_REQUEST, "jsonrpc must be \"2.0\"");
        }
        if (tree.has("id") && !id().isString() && !id().isIntegralNumber()) {
            throw new RpcException(RpcException.INVALID_REQUEST, "id must be a string or a whole number");
        }
        boolean response = tree.has("result") || tree.has("error");
        if (!tree.path("method").isString() && !(response && tree.has("id"))) {
            throw new RpcException(RpcException.INVALID_REQUEST, "method must be a string");
        }
        if (tree.has("params") && !tree.path("params").isObject()) {
            throw new RpcException(RpcException.INVALID_PARAMS, "params must be an object");
        }
    }

    public static Message request(JsonNode id, String method, ObjectNode params) {
        var tree = begun();
        tree.set("id", id);
        tree.put("method", method).set("params", params);
        return new Message(tree);
    }

    public static Message notification(String method, ObjectNode params) {
        var tree = begun().put("method", method);
        tree.set("params", params);
        return new Message(tree);
    }

    public static Message result(JsonNode id, JsonNode result) {
        var tree = begun();
        tree.set("id", id);
        tree.set("result", result);
        return new Message(tree);
    }

    /// @param id missing when the request has no readable id
    public static Message error(JsonNode id, RpcException error) {
        var tree = begun();
        tree.set("id", id.isMissingNode() ? Json.mapper().nullNode() : id);
        var told = tree.putObject("error").put("code", error.code()).put("message", error.text());
        error.data().ifPresent(data -> told.set("data", data));
        return new Message(tree);
    }

    private static ObjectNode begun() {
        return Json.mapper().createObjectNode().put("jsonrpc", "2.0");
    }

    /// Whether this is the response to the request. Compares ids as text, because nodes of a computed and a parsed
    /// number are not equal.
    public boolean answers(Message request) {
        return kind() == Kind.RESPONSE && id().toString().equals(request.id().toString());
    }

    public Kind kind() {
        if (!tree.path("method").isString()) {
            return Kind.RESPONSE;
        }
        return tree.has("id") ? Kind.REQUEST : Kind.NOTIFICATION;
    }

    public JsonNode id() {
        return tree.path("id");
    }

    public String method() {
        return tree.path("method").asString("");
    }

    /// Missing when there are none.
    public JsonNode params() {
        return tree.has("params") ? tree.path("params") : MissingNode.getInstance();
    }

    public byte[] bytes() {
        return Json.write(tree);
    }

    /// A notification that cancels a request.
    public static Message cancelled(JsonNode request) {
        var params = Json.mapper().createObjectNode().put("reason", "the caller stopped waiting for it");
        params.set("requestId", request);
        return notification("notifications/cancelled", params);
    }
}
