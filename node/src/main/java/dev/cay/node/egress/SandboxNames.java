package dev.cay.node.egress;

import dev.cay.node.network.NameFilter;
import java.net.InetAddress;

/// The DNS filter of a sandbox on the path.
///
/// @param sandbox whose current rules decide
record SandboxNames(PathSandbox sandbox, Upstreams upstreams) implements NameFilter {
    private static final int DNS = 53;

    @Override
    public boolean addressesOnly() {
        return sandbox.rules().limitsNames();
    }

    @Override
    public boolean allows(String name) {
        String plain = HostPattern.plain(name);
        boolean allowed = sandbox.rules().mayAskFor(plain);
        if (!allowed) {
            sandbox.log().note("dns", plain, null, DNS, false, "none");
        }
        return allowed;
    }

    @Override
    public boolean shows(InetAddress address) {
        return upstreams.permits(address);
    }
}
