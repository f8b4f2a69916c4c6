package dev.cay.cli.local;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The result of a start, for the last lines of `cay up` and for the run file that `cay env` reads.
///
/// @param url           plain HTTP base of API, sandbox and volume requests
/// @param domain        suffix of sandboxes' host names, with the TLS port unless that is 443
/// @param firstKey      the API key, only at the start that made it: the server stores no copy in clear text
/// @param running       sandboxes that were running already
/// @param caCertificate the CA that signed the TLS listeners' certificate
/// @param bundle        the system's roots plus that CA, in one file
/// @param took          from the call to readiness
public record StartReport(
        URI url,
        String domain,
        @Nullable String firstKey,
        int running,
        Path caCertificate,
        Path bundle,
        Duration took) {}
