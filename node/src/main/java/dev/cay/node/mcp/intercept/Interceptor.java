package dev.cay.node.mcp.intercept;

import dev.cay.http.Json;
import dev.cay.node.mcp.catalog.Interception;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.nio.charset.StandardCharsets;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// One interceptor: its rule, and the backend that checks calls.
record Interceptor(Interception rule, InterceptorBackend asked) {
    private static final int LONGEST_REASON = 2000;

    /// What it gets, and what it may answer.
    String subject() {
        return switch (rule.when()) {
            case BEFORE -> "arguments";
            case AFTER -> "result";
        };
    }

    /// @param question all fields but the value
    /// @return the new value, most often the same one
    ObjectNode ask(ObjectNode question, ObjectNode value) throws InterruptedException {
        question.set(subject(), value);
        byte[] asking = Json.write(question);
        if (asking.length > InterceptorBackend.MOST) {
            throw broken("can be shown no more than %d bytes, and the %s are more"
                    .formatted(InterceptorBackend.MOST, subject()));
        }
        byte[] answer;
        try {
            answer = asked.ask(asking, rule.timeout());
        } catch (CayException e) {
            throw broken(e.userMessage());
        }
        return new String(answer, StandardCharsets.UTF_8).isBlank() ? value : understood(answer, value);
    }

    /// Parses an answer. An unknown answer denies the call.
    private ObjectNode understood(byte[] answer, ObjectNode value) {
        JsonNode tree;
        try {
            tree = Json.mapper().readTree(answer);
        } catch (JacksonException e) {
            throw broken("answered what is not JSON");
        }
        if (tree.isObject() && tree.isEmpty()) {
            return value;
        }
        if (tree.size() == 1 && tree.path("deny").isString()) {
            String reason = tree.path("deny").asString();
            throw new CayException(
                    ErrorKind.PERMISSION_DENIED, reason.substring(0, Math.min(reason.length(), LONGEST_REASON)));
        }
        if (tree.size() == 1 && tree.path(subject()) instanceof ObjectNode instead) {
            return instead;
        }
        throw broken("answered neither {} nor an object with deny or %s alone".formatted(subject()));
    }

    private CayException broken(String how) {
        return new CayException(
                ErrorKind.FAILED,
                "the call was stopped, as an interceptor of this Cay is broken: %s %s".formatted(rule.name(), how));
    }
}
