package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.bench.Bench;
import dev.cay.testing.Fast;
import dev.cay.testing.OwnJava;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

@Fast
class WarmUpCommandTest {
    /// The launcher trains with the class path of the daemon; when that fails, all starts are slower and nobody hears.
    @Test
    void needsNoMeasurementsAndProofs() throws Exception {
        var proofs = Path.of(
                Bench.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        String classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !Path.of(entry).toAbsolutePath().equals(proofs))
                .collect(Collectors.joining(File.pathSeparator));
        var process = new ProcessBuilder(OwnJava.command(List.of(), classPath, "dev.cay.cli.Main", "warm-up"))
                .redirectErrorStream(true)
                .start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
        assertThat(text).doesNotContain("NoClassDefFoundError");
        assertThat(process.exitValue()).as(text).isZero();
    }
}
