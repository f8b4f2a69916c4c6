package dev.cay.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/// Fails tests that need root before they try anything. A skipped test would look like one that has passed.
final class FailsWithoutRoot implements BeforeAllCallback, BeforeEachCallback {
    @Override
    public void beforeAll(ExtensionContext context) throws IOException {
        check(context);
    }

    /// For a single method; a whole class does not get this far.
    @Override
    public void beforeEach(ExtensionContext context) throws IOException {
        check(context);
    }

    private static void check(ExtensionContext context) throws IOException {
        if (!isRoot()) {
            throw new AssertionError("%s needs root; run: sudo ./cay test %s"
                    .formatted(
                            context.getDisplayName(),
                            context.getRequiredTestClass().getSimpleName()));
        }
    }

    private static boolean isRoot() throws IOException {
        return Files.getAttribute(Path.of("/proc/self"), "unix:uid") instanceof Integer uid && uid == 0;
    }
}
