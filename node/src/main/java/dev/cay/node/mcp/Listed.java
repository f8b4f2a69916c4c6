package dev.cay.node.mcp;

import java.util.Optional;
import java.util.stream.Stream;

/// What servers have lists of.
enum Listed {
    TOOLS("tools", "tools/list", "tools", "name"),
    PROMPTS("prompts", "prompts/list", "prompts", "name"),
    RESOURCES("resources", "resources/list", "resources", "uri"),
    TEMPLATES("resources", "resources/templates/list", "resourceTemplates", "uriTemplate");

    private final String capability;
    private final String method;
    private final String field;
    private final String identity;

    Listed(String capability, String method, String field, String identity) {
        this.capability = capability;
        this.method = method;
        this.field = field;
        this.identity = identity;
    }

    /// What a server must have said it can do to be asked.
    String capability() {
        return capability;
    }

    String method() {
        return method;
    }

    /// Of the answer, where the items are.
    String field() {
        return field;
    }

    /// Of an item, what tells it from others.
    String identity() {
        return identity;
    }

    /// Whether items have names that servers may have in common, rather than addresses.
    boolean isNamed() {
        return identity.equals("name");
    }

    /// The notification that says it is not as it was.
    String change() {
        return "notifications/%s/list_changed".formatted(capability);
    }

    static Optional<Listed> by(String method) {
        return Stream.of(values()).filter(kind -> kind.method.equals(method)).findFirst();
    }
}
