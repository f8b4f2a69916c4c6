package dev.cay.acceptance;

import dev.cay.platform.OwnCay;
import java.util.Map;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/// Gives test methods the one daemon of their process, and ends it with the process. A test that kills the daemon
/// starts one for itself.
final class TestPlatform implements ParameterResolver {
    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == OwnCay.class;
    }

    @Override
    public OwnCay resolveParameter(ParameterContext parameter, ExtensionContext context) {
        // The session is the test process: the root of a context ends with each class there.
        return context.getStore(ExtensionContext.StoreScope.LAUNCHER_SESSION, ExtensionContext.Namespace.GLOBAL)
                .computeIfAbsent(OwnCay.class, _ -> start(), OwnCay.class);
    }

    private static OwnCay start() {
        try {
            return OwnCay.start(Map.of());
        } catch (Exception e) {
            throw new IllegalStateException("no platform to test", e);
        }
    }
}
