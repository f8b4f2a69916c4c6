package dev.cay.server.quota;

import dev.cay.wire.SandboxId;
import java.util.LinkedHashMap;
import java.util.Map;

/// How often clients without a token have asked each sandbox lately. Thread-safe.
final class Strangers {
    /// The sandboxes that were requested last have counts; a sandbox that was dropped starts again at zero.
    private static final int MOST = 10_000;

    private final Map<SandboxId, Rates> bySandbox = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<SandboxId, Rates> eldest) {
            return size() > MOST;
        }
    };

    /// @param limits of the team that owns the sandbox
    synchronized Rates of(SandboxId sandbox, Limits limits) {
        var known = bySandbox.get(sandbox);
        if (known != null && known.limits().equals(limits)) {
            return known;
        }
        var fresh = new Rates(limits, "this sandbox");
        bySandbox.put(sandbox, fresh);
        return fresh;
    }
}
