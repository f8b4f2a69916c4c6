package dev.cay.sdk;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Access to servers in a sandbox. It cannot be changed later.
///
/// @param open false when requests must carry the sandbox's traffic token, which {@link Sandbox} sends by
///             itself
/// @param host the header `Host` that servers inside get; `${PORT}` stands for the port; null for the client's own
/// @param tls  ports of servers that speak TLS themselves, with any certificate
public record PortRules(boolean open, @Nullable String host, List<Integer> tls) {
    public PortRules {
        tls = List.copyOf(tls);
    }

    public static PortRules usual() {
        return new PortRules(true, null, List.of());
    }

    /// The same rules, and requests need the sandbox's traffic token.
    public PortRules closed() {
        return new PortRules(false, host, tls);
    }

    public PortRules showingHost(String name) {
        return new PortRules(open, name, tls);
    }

    public PortRules withTls(int... ports) {
        var all = new ArrayList<>(tls);
        for (int port : ports) {
            all.add(port);
        }
        return new PortRules(open, host, all);
    }

    /// The field `network` of a create request.
    Map<String, Object> body() {
        var body = new LinkedHashMap<String, Object>();
        if (!open) {
            body.put("allowPublicTraffic", false);
        }
        if (host != null) {
            body.put("maskRequestHost", host);
        }
        if (!tls.isEmpty()) {
            body.put("httpsPorts", tls);
        }
        return body;
    }
}
