package dev.cay.node.mcp;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import tools.jackson.databind.node.ObjectNode;

/// One list made of those of several servers, in which names are unique. Used by one thread until it is complete.
final class MergedList {
    /// The origin of an item.
    ///
    /// @param own its name at its server
    record Entry(SessionServer server, String own) {}

    private final Listed kind;
    private final OfferedNames offered;
    private final List<ObjectNode> items = new ArrayList<>();
    private final Map<String, Entry> table = new LinkedHashMap<>();

    /// @param taken names that are not for servers
    MergedList(Listed kind, Set<String> taken) {
        this.kind = kind;
        this.offered = new OfferedNames(taken);
    }

    void add(SessionServer server, ObjectNode item) {
        String own = item.path(kind.identity()).asString();
        if (!server.server().offers(kind, own)) {
            return;
        }
        if (!kind.isNamed()) {
            // For equal addresses the first server is asked.
            if (table.putIfAbsent(own, new Entry(server, own)) == null) {
                items.add(item);
            }
            return;
        }
        String name = offered.offer(server.server().prefix(), own);
        table.put(name, new Entry(server, own));
        items.add(name.equals(own) ? item : item.deepCopy().put(kind.identity(), name));
    }

    /// The items as clients get them.
    List<ObjectNode> items() {
        return items;
    }

    /// The items of one server.
    List<ObjectNode> items(GatewayServer server) {
        return items.stream()
                .filter(item -> {
                    var name = item.path(kind.identity()).asString();
                    return Objects.requireNonNull(table.get(name)).server.server() == server;
                })
                .toList();
    }

    /// The origins by the clients' names.
    Map<String, Entry> table() {
        return table;
    }
}
