package dev.cay.sdk;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Values that sandboxes send and never see. A rule of a sandbox names a secret as `${e2b.secrets.NAME}` in a header;
/// Cay puts the value in when the request leaves the sandbox.
public final class Secrets {
    /// The entry of a secret's metadata that names the only hosts its value may be sent to, separated by commas.
    public static final String HOSTS = "cay.hosts";

    private static final String PATH = "/secrets";

    private final Api api;

    Secrets(Api api) {
        this.api = api;
    }

    /// The text that stands for a secret: in a header that a rule sets, or inside of a sandbox, where a program sends
    /// it and
    /// {@link EgressRules#filling} has it replaced.
    public static String placeholder(String name) {
        return "${e2b.secrets.%s}".formatted(name);
    }

    public SecretInfo create(String name, String value) {
        return create(name, value, Map.of());
    }

    /// @param metadata what the team wants to know about it, and {@link #HOSTS}
    public SecretInfo create(String name, String value, Map<String, String> metadata) {
        var body = new LinkedHashMap<String, Object>();
        body.put("name", name);
        body.put("value", value);
        if (!metadata.isEmpty()) {
            body.put("metadata", metadata);
        }
        return SecretInfo.of(api.post(PATH, body));
    }

    /// Gives it another value. Sandboxes that run send the new one from now on.
    ///
    /// @param secret id or name
    public SecretInfo update(String secret, String value) {
        return SecretInfo.of(api.post(path(secret), Map.of("value", value)));
    }

    /// @param secret id or name
    public Optional<SecretInfo> find(String secret) {
        try {
            return Optional.of(SecretInfo.of(api.get(path(secret))));
        } catch (SandboxException e) {
            if (e.kind() == SandboxException.Kind.NOT_FOUND) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /// All of the team, newest first.
    public List<SecretInfo> list() {
        return api.list(PATH, Map.of()).stream().map(SecretInfo::of).toList();
    }

    /// Whether there was one.
    ///
    /// @param secret id or name
    public boolean delete(String secret) {
        return api.delete(path(secret));
    }

    private static String path(String secret) {
        return PATH + "/" + Api.encode(secret);
    }
}
