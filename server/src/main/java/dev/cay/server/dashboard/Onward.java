package dev.cay.server.dashboard;

import dev.cay.http.Exchange;
import dev.cay.wire.SandboxAddress;

/// Where the dashboard passes calls of its pages on to.
public interface Onward {
    void toApi(Exchange exchange) throws Exception;

    void toSandbox(SandboxAddress address, Exchange exchange) throws Exception;
}
