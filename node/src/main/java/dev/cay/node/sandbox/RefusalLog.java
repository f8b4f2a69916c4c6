package dev.cay.node.sandbox;

import dev.cay.node.log.SandboxLog;
import dev.cay.wire.node.EgressEntry;
import java.util.LinkedHashMap;
import java.util.function.Consumer;

/// Lines about what the network rules of a sandbox refused.
final class RefusalLog {
    private RefusalLog() {}

    static Consumer<EgressEntry> of(SandboxLog log) {
        return entry -> {
            var fields = new LinkedHashMap<String, String>();
            fields.put("protocol", entry.protocol());
            if (entry.name() != null) {
                fields.put("name", entry.name());
            }
            if (entry.address() != null) {
                fields.put("address", entry.address());
            }
            fields.put("port", Integer.toString(entry.port()));
            log.warn("egress", "the network rules refused an attempt", fields);
        };
    }
}
