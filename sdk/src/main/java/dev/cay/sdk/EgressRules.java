package dev.cay.sdk;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The destinations that a sandbox may reach. Build the rules step by step:
///
/// ```java
/// var rules = EgressRules.nothing()
///         .allowing("1.1.1.1", "203.0.113.0/24", "*.example.org")
///         .withHeader("api.example.org", "Authorization", "Bearer abc");
/// cay.create(NewSandbox.usual().withEgress(rules));
/// ```
///
/// An allowed destination wins over a denied one, and a destination without a rule is allowed. Private addresses, and
/// destinations that the operator denies, are never reached.
///
/// @param internet if false, nothing is reached, whatever the other rules say
/// @param allow    addresses, ranges, host names, `*.domain`, `*`; with Cay also with `:port` at their end
/// @param deny     addresses and ranges
/// @param headers  headers that are set on HTTPS requests, by host or `*.domain`
/// @param fills    placeholders of secrets that are replaced in requests, by host or `*.domain`; only with Cay
/// @param proxy    the proxy that TCP connections use; null for none
public record EgressRules(
        boolean internet,
        List<String> allow,
        List<String> deny,
        Map<String, Map<String, String>> headers,
        Map<String, Fill> fills,
        @Nullable Proxy proxy) {
    private static final String ALL = "0.0.0.0/0";

    /// A SOCKS5 proxy.
    ///
    /// @param address `host:port`
    public record Proxy(
            String address,
            @Nullable String username,
            @Nullable String password) {
        /// The text leaves out the password.
        @Override
        public String toString() {
            return "Proxy[address=%s, username=%s]".formatted(address, username);
        }
    }

    /// A part of a request in which placeholders are replaced.
    public enum Part {
        HEADERS,
        QUERY,
        BODY
    }

    /// @param secrets names of secrets
    /// @param parts   parts of requests in which their placeholders are replaced
    public record Fill(List<String> secrets, Set<Part> parts) {
        public Fill {
            secrets = List.copyOf(secrets);
            parts = Set.copyOf(parts);
        }
    }

    public EgressRules {
        allow = List.copyOf(allow);
        deny = List.copyOf(deny);
        headers = Map.copyOf(headers);
        fills = Map.copyOf(fills);
    }

    /// No rules: the sandbox may reach everything.
    public static EgressRules everything() {
        return new EgressRules(true, List.of(), List.of(), Map.of(), Map.of(), null);
    }

    /// Denies everything; {@link #allowing} adds exceptions.
    public static EgressRules nothing() {
        return everything().denying(ALL);
    }

    /// Denies everything without exceptions: {@link #allowing} has no effect.
    public static EgressRules offline() {
        return new EgressRules(false, List.of(), List.of(), Map.of(), Map.of(), null);
    }

    /// Allows destinations. Host names work only if all else is denied: begin with {@link #nothing}.
    public EgressRules allowing(String... destinations) {
        return new EgressRules(internet, plus(allow, destinations), deny, headers, fills, proxy);
    }

    public EgressRules denying(String... addresses) {
        return new EgressRules(internet, allow, plus(deny, addresses), headers, fills, proxy);
    }

    /// Sets a header on HTTPS requests to a host or `*.domain`, instead of what the sandbox sends. This alone does not
    /// allow the host.
    public EgressRules withHeader(String host, String name, String value) {
        var all = new LinkedHashMap<>(headers);
        var ofHost = new LinkedHashMap<>(all.getOrDefault(host, Map.of()));
        ofHost.put(name, value);
        all.put(host, ofHost);
        return new EgressRules(internet, allow, deny, all, fills, proxy);
    }

    /// Replaces placeholders that the sandbox sends in headers to a host or `*.domain`; see {@link
    /// Secrets#placeholder}. This alone does not allow the host.
    ///
    /// @param secrets names of the secrets that may be sent there
    public EgressRules filling(String host, String... secrets) {
        return filling(host, Set.of(Part.HEADERS), secrets);
    }

    /// The same in other parts of requests. A service that stores the requests it gets can leak a secret: name the
    /// query or the body only if the service needs the secret there.
    public EgressRules filling(String host, Set<Part> parts, String... secrets) {
        var all = new LinkedHashMap<>(fills);
        all.put(host, new Fill(List.of(secrets), parts));
        return new EgressRules(internet, allow, deny, headers, all, proxy);
    }

    /// Sends all TCP connections that the rules allow through a SOCKS5 proxy.
    public EgressRules through(String address) {
        return new EgressRules(internet, allow, deny, headers, fills, new Proxy(address, null, null));
    }

    public EgressRules through(String address, String username, String password) {
        return new EgressRules(internet, allow, deny, headers, fills, new Proxy(address, username, password));
    }

    private static List<String> plus(List<String> list, String... more) {
        var all = new ArrayList<>(list);
        all.addAll(List.of(more));
        return all;
    }

    /// The JSON body of a request that changes a sandbox's rules.
    Map<String, Object> body() {
        var body = rules();
        body.put("allow_internet_access", internet);
        return body;
    }

    /// The field `network` of a create request.
    Map<String, Object> rules() {
        var body = new LinkedHashMap<String, Object>();
        if (!allow.isEmpty()) {
            body.put("allowOut", allow);
        }
        if (!deny.isEmpty()) {
            body.put("denyOut", deny);
        }
        var transforms = new LinkedHashMap<String, Map<String, Object>>();
        headers.forEach((host, set) -> transform(transforms, host).put("headers", set));
        fills.forEach((host, fill) -> transform(transforms, host).put("fill", body(fill)));
        if (!transforms.isEmpty()) {
            var rules = new LinkedHashMap<String, Object>();
            transforms.forEach((host, transform) -> rules.put(host, List.of(Map.of("transform", transform))));
            body.put("rules", rules);
        }
        if (proxy != null) {
            var said = new LinkedHashMap<String, String>();
            said.put("address", proxy.address());
            if (proxy.username() != null) {
                said.put("username", proxy.username());
            }
            if (proxy.password() != null) {
                said.put("password", proxy.password());
            }
            body.put("egressProxy", said);
        }
        return body;
    }

    private static Map<String, Object> transform(Map<String, Map<String, Object>> transforms, String host) {
        return transforms.computeIfAbsent(host, _ -> new LinkedHashMap<>());
    }

    private static Map<String, Object> body(Fill fill) {
        var parts = fill.parts().stream()
                .map(part -> part.name().toLowerCase(Locale.ROOT))
                .sorted()
                .toList();
        return Map.of("secrets", fill.secrets(), "in", parts);
    }

    /// The text leaves out the values of headers, which may be secret.
    @Override
    public String toString() {
        return "EgressRules[internet=%s, allow=%s, deny=%s, headers=%s, fills=%s, proxy=%s]"
                .formatted(internet, allow, deny, headers.keySet(), fills, proxy);
    }
}
