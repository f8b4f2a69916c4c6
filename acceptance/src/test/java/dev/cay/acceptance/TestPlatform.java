package dev.cay.acceptance;

import dev.cay.platform.OwnCay;
import java.util.Map;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/// Gives test methods the run's one daemon, and ends it with the run. A test that kills the daemon starts
/// one for itself.
final class TestPlatform implements ParameterResolver {
    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == OwnCay.class;
    }

    @Override
    public OwnCay resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return context.getRoot()
                .getStore(ExtensionContext.Namespace.GLOBAL)
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
