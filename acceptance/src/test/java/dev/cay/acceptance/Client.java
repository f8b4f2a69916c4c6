package dev.cay.acceptance;

import static java.util.concurrent.TimeUnit.MINUTES;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/// An official client in one version, installed once per machine from the npm registry.
///
/// @param directory where its `node_modules` lies
record Client(String name, String version, Path directory) {
    private static final Path CACHE = Path.of("/var/cache/cay/npm");
    private static final Pattern RESULT = Pattern.compile("^(ok|not ok) \\d+ - (.*?)( # SKIP.*)?$");

    /// One test of a test file, as the client's run reported it.
    record Result(String name, boolean passed, boolean skipped) {}

    /// What a run of a test file gave; the output is for people.
    record Run(List<Result> results, int exitCode, String output) {}

    static Client install(String name, String version) throws IOException, InterruptedException {
        var directory = CACHE.resolve(name.replace('/', '_') + "-" + version);
        Files.createDirectories(directory);
        try (var lock =
                FileChannel.open(directory.resolve(".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            lock.lock();
            if (!Files.exists(directory.resolve(".complete"))) {
                Files.writeString(directory.resolve("package.json"), "{\"private\": true}");
                run(directory, "npm", "install", "--no-audit", "--no-fund", "--no-package-lock", name + "@" + version);
                Files.createFile(directory.resolve(".complete"));
            }
        }
        return new Client(name, version, directory);
    }

    /// Runs a file of `src/test/js` with Node's own test runner.
    Run test(String file, Map<String, String> environment) throws IOException, InterruptedException {
        var process = start(
                environment,
                "node",
                "--test-reporter=tap",
                Path.of("src/test/js", file).toString());
        var output = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        if (!process.waitFor(10, MINUTES)) {
            process.destroyForcibly();
        }
        var results = new ArrayList<Result>();
        for (var line : output.lines().toList()) {
            var match = RESULT.matcher(line);
            if (match.matches()) {
                results.add(new Result(match.group(2), match.group(1).equals("ok"), match.group(3) != null));
            }
        }
        return new Run(results, process.exitValue(), output);
    }

    Process start(Map<String, String> environment, String... command) throws IOException {
        var builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().keySet().removeIf(key -> key.startsWith("E2B_"));
        builder.environment().putAll(environment);
        builder.environment().put("CAY_CLIENT", directory.toString());
        builder.environment().put("NO_UPDATE_NOTIFIER", "1");
        return builder.start();
    }

    private static void run(Path directory, String... command) throws IOException, InterruptedException {
        var process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        var output = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", command) + " failed:\n" + output);
        }
    }
}
