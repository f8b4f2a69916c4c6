package dev.cay.node.image.oci;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/// How a registry knows who pulls. Secrets never stand in a text form of these.
public sealed interface RegistryCredentials {
    /// No credentials, for public images.
    record None() implements RegistryCredentials {}

    /// A user and a password, or whatever the registry wants in its place.
    record Password(String user, String password) implements RegistryCredentials {
        @Override
        public String toString() {
            return "Password[user=%s]".formatted(user);
        }
    }

    /// Keys of AWS, which are exchanged for a password of its registry service.
    ///
    /// @param endpoint where keys are exchanged; null for AWS itself
    record Aws(
            String accessKeyId,
            String secretAccessKey,
            @Nullable String sessionToken,
            String region,
            @Nullable URI endpoint)
            implements RegistryCredentials {
        @Override
        public String toString() {
            return "Aws[accessKeyId=%s, region=%s]".formatted(accessKeyId, region);
        }
    }

    /// The key file of a service account of Google's cloud.
    record Gcp(String jsonKey) implements RegistryCredentials {
        @Override
        public String toString() {
            return "Gcp[]";
        }
    }

    static RegistryCredentials none() {
        return new None();
    }
}
