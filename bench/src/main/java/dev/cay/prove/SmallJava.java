package dev.cay.prove;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A Java runtime with one program in it, as a tar file: the base template has none.
final class SmallJava {
    private static final int LIMIT_MINUTES = 3;

    private SmallJava() {}

    /// Made of the JDK that runs this program; `java/classes` in it holds the program.
    ///
    /// @param directory empty, for it and for what is needed on the way
    static Path with(Class<?> program, Path directory) throws IOException, InterruptedException {
        Path runtime = directory.resolve("java");
        run(List.of(
                System.getProperty("java.home") + "/bin/jlink",
                "--add-modules",
                "java.base,jdk.httpserver",
                "--strip-debug",
                "--no-header-files",
                "--no-man-pages",
                "--output",
                runtime.toString()));
        String name = program.getName().replace('.', '/') + ".class";
        Path file = runtime.resolve("classes").resolve(name);
        Files.createDirectories(file.getParent());
        try (var in = program.getResourceAsStream("/" + name)) {
            if (in == null) {
                throw new IllegalStateException("no class file of " + program);
            }
            Files.copy(in, file);
        }
        Path packed = directory.resolve("java.tar");
        run(List.of("tar", "-C", directory.toString(), "-cf", packed.toString(), "java"));
        return packed;
    }

    private static void run(List<String> command) throws IOException, InterruptedException {
        var process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (!process.waitFor(LIMIT_MINUTES, TimeUnit.MINUTES) || process.exitValue() != 0) {
            process.destroyForcibly();
            throw new CayException(ErrorKind.INTERNAL, command.getFirst() + " failed");
        }
    }
}
