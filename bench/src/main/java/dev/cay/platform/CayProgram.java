package dev.cay.platform;

import dev.cay.testing.OwnJava;
import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/// The `cay` program by the classes at hand, for tests: the launcher would build it first.
public final class CayProgram {
    private static final String MAIN = "dev.cay.cli.Main";
    private static final List<String> FLAGS =
            List.of("-Djdk.virtualThreadScheduler.parallelism=16", "-Djdk.pollerMode=1", "-Xmx512m");

    /// The second compiler alone knows the processor's instructions for check sums, and a backup is little else.
    private static final List<String> WELL_COMPILED = List.of("backup", "restore");

    private CayProgram() {}

    /// @param arguments a subcommand and what belongs to it
    public static List<String> command(String... arguments) {
        var classPath = classPath();
        var flags = new ArrayList<>(FLAGS);
        if (WELL_COMPILED.contains(arguments[0])) {
            flags.add("-XX:TieredStopAtLevel=4");
        }
        flags.addAll(ClassArchive.flags(OwnJava.command(FLAGS, classPath, MAIN, "warm-up"), classPath));
        // Measurements and proofs are none of the daemon's business. At the end, as the archive is made without them.
        String all = arguments[0].equals("up") ? classPath : classPath + File.pathSeparator + measurements();
        return OwnJava.command(flags, all, MAIN, arguments);
    }

    /// As a daemon has it that was started by hand: without this module, and without classes of tests.
    private static String classPath() {
        var own = measurements();
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(entry -> Path.of(entry).toAbsolutePath())
                .filter(entry -> Files.exists(entry) && !entry.equals(own) && !entry.endsWith("test-classes"))
                .map(Path::toString)
                .collect(Collectors.joining(File.pathSeparator));
    }

    /// This module.
    private static Path measurements() {
        try {
            var source = CayProgram.class.getProtectionDomain().getCodeSource();
            return Path.of(source.getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
