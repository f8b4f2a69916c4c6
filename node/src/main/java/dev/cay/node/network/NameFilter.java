package dev.cay.node.network;

import java.net.InetAddress;

/// The names that one sandbox may look up.
public interface NameFilter {
    /// Whether the sandbox gets only addresses, of allowed names. Otherwise it gets all records but those that name
    /// other hosts and keys for a service (HTTPS, SVCB): with these, clients hide the name that rules check.
    boolean addressesOnly();

    /// Whether it may ask for this name.
    ///
    /// @param name in lower case
    boolean allows(String name);

    /// Whether it may see this address; private zones of the host are not for sandboxes.
    boolean shows(InetAddress address);
}
