package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.testing.NeedsRoot;
import dev.cay.testing.OwnRegistry;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Templates from images of a registry that asks for a password, built with the official client.
@NeedsRoot
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class ImagesTest {
    @TempDir
    private Path directory = Path.of("unset");

    @Test
    void clientsBuildFromImages() throws Exception {
        try (var registry = OwnRegistry.start(directory.resolve("registry"), true);
                var cay = OwnCay.start(Map.of("images.registries", "http://" + registry.host()))) {
            var environment = new HashMap<>(cay.environment(OwnCay.Mode.URL));
            environment.put("REGISTRY", registry.host());
            environment.put("REGISTRY_USER", OwnRegistry.USER);
            environment.put("REGISTRY_PASSWORD", OwnRegistry.PASSWORD);
            var script = NpmClient.e2b()
                    .program(environment, "node", "src/test/js/images.mjs")
                    .redirectErrorStream(true)
                    .start();
            String output = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(script.waitFor()).as(output).isZero();
            assertThat(output).contains("all good");
        }
    }
}
