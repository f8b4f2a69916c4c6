package dev.cay.server.build;

import dev.cay.server.request.RequestBody;
import dev.cay.wire.node.RegistryLogin;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/// A client's credentials for registries, which the node uses. They are never stored.
///
/// @param image      for the registry of `fromImage`
/// @param registries for the images that a Dockerfile names, by registry
record RegistryLogins(RegistryLogin image, Map<String, RegistryLogin> registries) {
    static final RegistryLogins NONE = new RegistryLogins(RegistryLogin.NONE, Map.of());

    RegistryLogins {
        registries = Map.copyOf(registries);
    }

    /// Reads the fields `fromImageRegistry` and `registryLogins` of a body.
    static RegistryLogins read(RequestBody body) {
        var logins = new HashMap<String, RegistryLogin>();
        for (var login : body.objects("registryLogins")) {
            String field = "registryLogins[%d]".formatted(logins.size());
            String registry = required(login, field, "registry").toLowerCase(Locale.ROOT);
            required(login, field, "type");
            if (logins.put(registry, read(login, field)) != null) {
                throw RequestBody.invalid("'registryLogins' names the registry %s twice".formatted(registry));
            }
        }
        if (!logins.isEmpty() && body.filled("dockerfile") == null) {
            throw RequestBody.invalid("'registryLogins' is for 'dockerfile'; 'fromImage' takes 'fromImageRegistry'");
        }
        return new RegistryLogins(read(body.object("fromImageRegistry"), "fromImageRegistry"), logins);
    }

    private static RegistryLogin read(RequestBody body, String field) {
        String type = body.text("type");
        return switch (type) {
            case null -> RegistryLogin.NONE;
            case "registry" ->
                new RegistryLogin.Password(required(body, field, "username"), required(body, field, "password"));
            case "aws" ->
                new RegistryLogin.Aws(
                        required(body, field, "awsAccessKeyId"),
                        required(body, field, "awsSecretAccessKey"),
                        required(body, field, "awsRegion"));
            case "gcp" -> new RegistryLogin.Gcp(required(body, field, "serviceAccountJson"));
            default -> throw RequestBody.invalid("'%s.type' must be registry, aws or gcp".formatted(field));
        };
    }

    private static String required(RequestBody body, String field, String name) {
        String value = body.text(name);
        if (value == null || value.isEmpty()) {
            throw RequestBody.invalid("'%s.%s' is required".formatted(field, name));
        }
        return value;
    }
}
