package dev.cay.acceptance;

import static java.util.concurrent.TimeUnit.MINUTES;

import dev.cay.bench.NpmClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/// The files of `src/test/js`, run with a client by Node's own test runner.
record ClientTests(NpmClient client) {
    private static final Pattern RESULT = Pattern.compile("^(ok|not ok) \\d+ - (.*?)( # SKIP.*)?$");

    /// One test of a test file, as the client's run reported it.
    record Result(String name, boolean passed, boolean skipped) {}

    /// What a run of a test file gave; the output is for people.
    record Run(List<Result> results, int exitCode, String output) {}

    Run run(String file, Map<String, String> environment) throws IOException, InterruptedException {
        var path = Path.of("src/test/js", file).toString();
        var process = client.program(environment, "node", "--test-reporter=tap", path)
                .redirectErrorStream(true)
                .start();
        var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
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
}
