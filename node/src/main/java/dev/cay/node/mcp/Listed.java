package dev.cay.node.mcp;

import java.util.Optional;
import java.util.stream.Stream;

/// The kinds of lists of servers.
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

    /// The capability that a server needs to be asked.
    String capability() {
        return capability;
    }

    String method() {
        return method;
    }

    /// The field of the answer with the items.
    String field() {
        return field;
    }

    /// The field by which items differ.
    String identity() {
        return identity;
    }

    /// Whether items have names that servers may have in common, rather than addresses.
    boolean isNamed() {
        return identity.equals("name");
    }

    /// The notification of a change.
    String change() {
        return "notifications/%s/list_changed".formatted(capability);
    }

    static Optional<Listed> by(String method) {
        return Stream.of(values()).filter(kind -> kind.method.equals(method)).findFirst();
    }
}
