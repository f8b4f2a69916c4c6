package dev.cay.sdk;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Who reaches servers in a sandbox, and how. It cannot be changed later.
///
/// @param open false when requests must carry the sandbox's traffic token, which {@link Sandbox} sends by
///             itself
/// @param host what servers inside see as `Host`; `${PORT}` stands for the port; null for what the client sent
/// @param tls  ports at which servers inside speak TLS themselves, with any certificate
public record PortRules(boolean open, @Nullable String host, List<Integer> tls) {
    public PortRules {
        tls = List.copyOf(tls);
    }

    public static PortRules usual() {
        return new PortRules(true, null, List.of());
    }

    /// Requests need the sandbox's traffic token.
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

    /// As the field `network` of a create has them.
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
