package dev.cay.node.image.oci;

import java.time.Duration;

/// Limits of a registry that are short enough for tests.
final class TestLimits {
    private TestLimits() {}

    /// The settings with other limits for the begin of an answer, for the time between its bytes, and for a registry
    /// that does not answer.
    static RegistrySettings of(RegistrySettings settings, Duration answer, Duration idle, Duration patience) {
        return new RegistrySettings(
                settings.mirrors(),
                settings.plainHttp(),
                settings.named(),
                settings.connect(),
                answer,
                idle,
                patience,
                settings.whole(),
                settings.parallel(),
                settings.reach(),
                settings.mirrorsOnly());
    }
}
