package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.platform.OwnCay;
import dev.cay.sdk.Cay;
import dev.cay.sdk.SandboxException;
import dev.cay.sdk.SandboxException.Kind;
import dev.cay.sdk.Settings;
import java.time.Duration;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/// A test of the Java SDK against a real Cay, by plain addresses and by names over TLS.
@ExtendWith(TestPlatform.class)
@Timeout(600)
abstract class SdkTest {
    static final Duration LIMIT = Duration.ofSeconds(30);

    @SuppressWarnings("NullAway.Init")
    Cay cay;

    @SuppressWarnings("NullAway.Init")
    Cay named;

    @BeforeEach
    final void open(OwnCay platform) {
        cay = Cay.with(Settings.from(platform.environment(OwnCay.Mode.URL)));
        named = Cay.with(Settings.from(platform.environment(OwnCay.Mode.DOMAIN)));
    }

    @AfterEach
    final void close() {
        cay.close();
        named.close();
    }

    static void assertKind(Kind kind, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        SandboxException.class,
                        e -> assertThat(e.kind()).as(e.getMessage()).isEqualTo(kind));
    }
}
