package dev.cay.server.build;

import dev.cay.server.request.RequestBody;
import dev.cay.wire.node.RegistryLogin;

/// Reads what a client says to be let into a registry.
final class RegistryLogins {
    private RegistryLogins() {}

    /// @param body the object `fromImageRegistry`; empty for none
    static RegistryLogin read(RequestBody body) {
        String type = body.text("type");
        return switch (type) {
            case null -> RegistryLogin.NONE;
            case "registry" -> new RegistryLogin.Password(required(body, "username"), required(body, "password"));
            case "aws" ->
                new RegistryLogin.Aws(
                        required(body, "awsAccessKeyId"),
                        required(body, "awsSecretAccessKey"),
                        required(body, "awsRegion"));
            case "gcp" -> new RegistryLogin.Gcp(required(body, "serviceAccountJson"));
            default -> throw RequestBody.invalid("'fromImageRegistry.type' must be registry, aws or gcp");
        };
    }

    private static String required(RequestBody body, String name) {
        String value = body.text(name);
        if (value == null || value.isEmpty()) {
            throw RequestBody.invalid("'fromImageRegistry.%s' is required".formatted(name));
        }
        return value;
    }
}
