package dev.cay.sdk;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What a sandbox may reach. Made step by step:
///
/// ```java
/// var rules = EgressRules.nothing()
///         .allowing("1.1.1.1", "203.0.113.0/24", "*.example.org")
///         .withHeader("api.example.org", "Authorization", "Bearer abc");
/// cay.create(NewSandbox.usual().withEgress(rules));
/// ```
///
/// What is allowed wins over what is denied, and what nothing is said about is allowed. Private addresses are
/// never reached, nor is what the operator denies.
///
/// @param internet false: nothing is reached, whatever the rest says
/// @param allow    addresses, ranges, host names, `*.domain`, `*`; with Cay also with `:port` at their end
/// @param deny     addresses and ranges
/// @param headers  set on requests by HTTPS, by host or `*.domain`
/// @param fills    which placeholders of secrets are replaced on their way, by host or `*.domain`; of Cay alone
/// @param proxy    by which TCP leaves; null for none
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
        /// Without the password.
        @Override
        public String toString() {
            return "Proxy[address=%s, username=%s]".formatted(address, username);
        }
    }

    /// A part of a request.
    public enum Part {
        HEADERS,
        QUERY,
        BODY
    }

    /// @param secrets names of secrets
    /// @param parts   where their placeholders are looked for
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

    /// No rules: everything may be reached.
    public static EgressRules everything() {
        return new EgressRules(true, List.of(), List.of(), Map.of(), Map.of(), null);
    }

    /// Nothing but what is allowed afterwards.
    public static EgressRules nothing() {
        return everything().denying(ALL);
    }

    /// Nothing at all; what is allowed beside it has no effect.
    public static EgressRules offline() {
        return new EgressRules(false, List.of(), List.of(), Map.of(), Map.of(), null);
    }

    /// Host names need that all else is denied: begin with {@link #nothing}.
    public EgressRules allowing(String... destinations) {
        return new EgressRules(internet, plus(allow, destinations), deny, headers, fills, proxy);
    }

    public EgressRules denying(String... addresses) {
        return new EgressRules(internet, allow, plus(deny, addresses), headers, fills, proxy);
    }

    /// Sets a header on requests by HTTPS to a host or `*.domain`, in place of what the sandbox sends. That
    /// alone does not allow the host.
    public EgressRules withHeader(String host, String name, String value) {
        var all = new LinkedHashMap<>(headers);
        var ofHost = new LinkedHashMap<>(all.getOrDefault(host, Map.of()));
        ofHost.put(name, value);
        all.put(host, ofHost);
        return new EgressRules(internet, allow, deny, all, fills, proxy);
    }

    /// Replaces placeholders that the sandbox itself sends in headers to a host or `*.domain`; see {@link
    /// Secrets#placeholder}. That alone does not allow the host.
    ///
    /// @param secrets names of the secrets that may be sent there
    public EgressRules filling(String host, String... secrets) {
        return filling(host, Set.of(Part.HEADERS), secrets);
    }

    /// The same in other parts of requests. A service that keeps what it is sent can give a secret away: name the
    /// query or the body only where a service needs the secret there.
    public EgressRules filling(String host, Set<Part> parts, String... secrets) {
        var all = new LinkedHashMap<>(fills);
        all.put(host, new Fill(List.of(secrets), parts));
        return new EgressRules(internet, allow, deny, headers, all, proxy);
    }

    /// Lets TCP leave by a SOCKS5 proxy, after all rules.
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

    /// As a change of a sandbox has them.
    Map<String, Object> body() {
        var body = rules();
        body.put("allow_internet_access", internet);
        return body;
    }

    /// As the field `network` of a create has them.
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

    /// Without values of headers, which may be secret.
    @Override
    public String toString() {
        return "EgressRules[internet=%s, allow=%s, deny=%s, headers=%s, fills=%s, proxy=%s]"
                .formatted(internet, allow, deny, headers.keySet(), fills, proxy);
    }
}
