package dev.cay.sdk;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Values that sandboxes send but cannot see. A rule of a sandbox names a secret as `${e2b.secrets.NAME}` in a header;
/// Cay inserts the value when the request leaves the sandbox.
public final class Secrets {
    /// The key of a metadata entry with the only hosts that the secret's value may be sent to, separated by commas.
    public static final String HOSTS = "cay.hosts";

    private static final String PATH = "/secrets";

    private final Api api;

    Secrets(Api api) {
        this.api = api;
    }

    /// The placeholder of a secret, for a header that a rule sets, or for a program in a sandbox, which sends it so
    /// that {@link EgressRules#filling} replaces it.
    public static String placeholder(String name) {
        return "${e2b.secrets.%s}".formatted(name);
    }

    public SecretInfo create(String name, String value) {
        return create(name, value, Map.of());
    }

    /// @param metadata labels of the team, and {@link #HOSTS}
    public SecretInfo create(String name, String value, Map<String, String> metadata) {
        var body = new LinkedHashMap<String, Object>();
        body.put("name", name);
        body.put("value", value);
        if (!metadata.isEmpty()) {
            body.put("metadata", metadata);
        }
        return SecretInfo.of(api.post(PATH, body));
    }

    /// Replaces the value of a secret. Running sandboxes send the new one from now on.
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

    /// Lists all secrets of the team, newest first.
    public List<SecretInfo> list() {
        return api.list(PATH, Map.of()).stream().map(SecretInfo::of).toList();
    }

    /// Deletes a secret.
    ///
    /// @param secret id or name
    /// @return whether it existed
    public boolean delete(String secret) {
        return api.delete(path(secret));
    }

    private static String path(String secret) {
        return PATH + "/" + Api.encode(secret);
    }
}
