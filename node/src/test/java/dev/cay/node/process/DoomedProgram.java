package dev.cay.node.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.OwnJava;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/// A program of the tests in a JVM of its own, as a daemon that is killed.
public final class DoomedProgram {
    private DoomedProgram() {}

    public static Process start(Class<?> main, String... arguments) throws IOException {
        return new ProcessBuilder(OwnJava.command(main, arguments))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    /// Kills it when it says this line.
    public static void killWhenItSays(String word, Class<?> main, String... arguments) throws Exception {
        var program = start(main, arguments);
        try (var out = program.inputReader()) {
            String line;
            do {
                line = out.readLine();
                assertThat(line).as("the program's word").isNotNull();
            } while (!line.equals(word));
        } finally {
            program.destroyForcibly();
            assertThat(program.waitFor(1, TimeUnit.MINUTES)).isTrue();
        }
    }
}
