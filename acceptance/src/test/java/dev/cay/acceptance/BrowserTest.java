package dev.cay.acceptance;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.testing.NeedsRoot;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;

/// What runs in a sandbox, seen with a real browser through its port URL. `./cay test` installs one where the system
/// has a package of it; elsewhere this is skipped.
@ExtendWith(TestPlatform.class)
@NeedsRoot
final class BrowserTest {
    private static final List<String> BROWSERS = List.of("chromium", "chromium-browser", "google-chrome");

    /// The newest before 8, whose bundler npm installs without its program for some CPUs.
    private static final String VITE = "7.3.8";

    @TestFactory
    List<DynamicNode> aBrowserSeesWhatASandboxServes(OwnCay platform) throws Exception {
        var browser = browser();
        assumeTrue(browser.isPresent(), "no Chromium here; Debian's package is called chromium");
        var environment = new HashMap<>(platform.environment(OwnCay.Mode.DOMAIN));
        environment.put("CAY_CHROMIUM", browser.orElseThrow().toString());
        environment.put("CAY_VITE", NpmClient.install("vite", VITE).directory().toString());
        var run = new ClientTests(NpmClient.e2b()).run("browser.test.mjs", environment);
        assertFalse(run.results().isEmpty(), run::output);
        return run.results().stream()
                .<DynamicNode>map(r -> dynamicTest(r.name(), () -> assertTrue(r.passed(), run::output)))
                .toList();
    }

    static Optional<Path> browser() {
        return BROWSERS.stream()
                .flatMap(name -> Stream.of(System.getenv("PATH").split(File.pathSeparator))
                        .map(directory -> Path.of(directory, name)))
                .filter(Files::isExecutable)
                .findFirst();
    }
}
