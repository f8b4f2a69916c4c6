package dev.cay.node.network;

import java.net.InetAddress;

/// What one sandbox may learn by DNS.
public interface NameFilter {
    /// Whether the sandbox gets addresses alone, of names that are allowed. Otherwise it gets all but records that
    /// name other places and keys for a service (HTTPS, SVCB): with these, clients hide the name that rules look
    /// at.
    boolean addressesOnly();

    /// Whether it may ask for this name.
    ///
    /// @param name in lower case
    boolean allows(String name);

    /// Whether it may see this address; private zones of the host are not for sandboxes.
    boolean shows(InetAddress address);
}
