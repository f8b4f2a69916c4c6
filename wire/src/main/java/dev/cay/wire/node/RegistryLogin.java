package dev.cay.wire.node;

/// Credentials for a registry. Their text form never contains a secret.
public sealed interface RegistryLogin {
    /// Anonymous access.
    record None() implements RegistryLogin {}

    /// A user and a password.
    record Password(String user, String password) implements RegistryLogin {
        @Override
        public String toString() {
            return "Password[user=%s]".formatted(user);
        }
    }

    /// Keys of AWS.
    record Aws(String accessKeyId, String secretAccessKey, String region) implements RegistryLogin {
        @Override
        public String toString() {
            return "Aws[accessKeyId=%s, region=%s]".formatted(accessKeyId, region);
        }
    }

    /// The key file of a service account of Google's cloud.
    record Gcp(String serviceAccountJson) implements RegistryLogin {
        @Override
        public String toString() {
            return "Gcp[]";
        }
    }

    RegistryLogin NONE = new None();
}
