package dev.cay.server.edge;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxAddress;
import dev.cay.wire.SandboxId;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/// Parses host names: `{port}-{sandboxId}.{domain}` is a port of a sandbox, anything else is not.
///
/// Below the configured domain, a malformed name is an error. Below any other domain (an operator's wildcard,
/// `localhost`) only an unambiguous name is taken for a sandbox, because it may be the name of the machine itself.
final class SandboxHosts {
    private static final Pattern UNMISTAKABLE = Pattern.compile("\\d{1,5}-i[a-z0-9]{20}(-[a-z0-9]*)?");
    private static final Pattern ID = Pattern.compile("[a-z0-9]{1,40}");
    private static final Pattern PORT = Pattern.compile("\\d{1,5}");
    /// The name under the domain at which E2B's dashboard API is served.
    private static final String DASHBOARD_API = "dashboard-api";

    /// Names under the domain that stand for the API, or for requests that name their sandbox in headers.
    private static final Set<String> OWN_NAMES = Set.of("api", "sandbox", DASHBOARD_API);

    private final String domain;

    /// @param domain with or without a port
    SandboxHosts(String domain) {
        this.domain = withoutPort(domain);
    }

    Optional<SandboxAddress> find(String authority) {
        String host = withoutPort(authority);
        int dot = host.indexOf('.');
        if (dot < 0) {
            return Optional.empty();
        }
        String label = host.substring(0, dot);
        if (host.endsWith("." + domain)) {
            return OWN_NAMES.contains(label) ? Optional.empty() : Optional.of(parse(label));
        }
        return UNMISTAKABLE.matcher(label).matches() ? Optional.of(parse(label)) : Optional.empty();
    }

    /// Whether this is the host of the dashboard API.
    boolean isDashboardApi(String authority) {
        return withoutPort(authority).equals(DASHBOARD_API + "." + domain);
    }

    /// Whether requests for this host come to this Cay's edge.
    boolean isBelowDomain(String host) {
        String plain = withoutPort(host);
        return plain.equals(domain) || plain.endsWith("." + domain);
    }

    static SandboxAddress address(String id, String port) {
        if (!ID.matcher(id).matches()) {
            throw invalid("Invalid sandbox ID");
        }
        int number = PORT.matcher(port).matches() ? Integer.parseInt(port) : 0;
        if (number < 1 || number > 65535) {
            throw invalid("Invalid sandbox port");
        }
        return new SandboxAddress(new SandboxId(id), number);
    }

    /// Old clients append their client id, which means nothing.
    private static SandboxAddress parse(String label) {
        String[] parts = label.split("-", -1);
        if (parts.length < 2) {
            throw invalid("Invalid host: it must look like 3000-<sandboxId>.<domain>");
        }
        return address(parts[1], parts[0]);
    }

    private static String withoutPort(String authority) {
        String host = authority.toLowerCase(Locale.ROOT);
        int colon = host.lastIndexOf(':');
        if (colon > host.lastIndexOf(']')) {
            host = host.substring(0, colon);
        }
        return host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
    }

    private static CayException invalid(String message) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, message);
    }
}
