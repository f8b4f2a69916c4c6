package dev.cay.prove;

import dev.cay.platform.OwnCay;
import dev.cay.platform.RemoteSandbox;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/// The runners' own tests, in sandboxes of the template they are made for.
final class RunnersProof implements Proof {
    private static final String TEMPLATE = "code-interpreter-v1";
    private static final Duration LIFE = Duration.ofMinutes(30);
    private static final String PLACE = "/tmp/runners";
    private static final Pattern COUNT = Pattern.compile("Ran (\\d+) test|(?m)^. tests (\\d+)$");
    private static final Pattern FAILURE = Pattern.compile("(?m)^(not ok|FAIL:|ERROR:)");
    private static final int LONGEST_REPORT = 4000;
    private static final String GOOD = "verdict good";

    /// @param command run where the language's runner and its tests lie
    private record Suite(String language, String command) {}

    private static final List<Suite> SUITES = List.of(
            new Suite("python", "python3 -m unittest discover -t . -s tests"),
            new Suite("javascript", "node --test --test-reporter=tap tests/*.test.mjs"),
            new Suite("bash", "python3 tests/test_runner.py"),
            new Suite("r", "python3 tests/test_r_runner.py"),
            new Suite("java", "python3 tests/test_java_runner.py"));

    @Override
    public String name() {
        return "runners";
    }

    @Override
    public String promise() {
        return "the runner of every language keeps to its protocol: output, results, charts, errors, interrupts at any"
                + " moment, whatever cells do";
    }

    @Override
    public Verdict run(Stage stage) throws Exception {
        // A cell of a hundred thousand lines takes Python half a gigabyte to compile.
        var cay = stage.cay(Map.of("sandboxes.memoryMB", "4GB"));
        cay.awaitTemplate(TEMPLATE);
        var details = new ArrayList<String>();
        int tests = 0;
        boolean holds = true;
        for (var suite : stage.chosen(SUITES, Suite::language)) {
            stage.say(suite.language());
            String output = play(cay, suite);
            int ran = COUNT.matcher(output)
                    .results()
                    .mapToInt(found -> Integer.parseInt(found.group(found.group(1) == null ? 2 : 1)))
                    .sum();
            boolean good = output.stripTrailing().endsWith(GOOD) && ran > 0;
            tests += ran;
            holds &= good;
            details.add("- %s: %d tests, %s".formatted(suite.language(), ran, good ? "all good" : "not all good"));
            if (!good) {
                details.add("```\n" + fromTheFailure(output) + "\n```");
            }
        }
        return new Verdict(holds, "%d tests of %d runners".formatted(tests, SUITES.size()), details);
    }

    /// What a test runner says of the first test that failed, else its last words.
    private static String fromTheFailure(String output) {
        var failure = FAILURE.matcher(output);
        int begin = failure.find() ? failure.start() : Math.max(0, output.length() - LONGEST_REPORT);
        return output.substring(begin, Math.min(output.length(), begin + LONGEST_REPORT));
    }

    private static String play(OwnCay cay, Suite suite) throws Exception {
        try (var sandbox = RemoteSandbox.create(cay.url(), cay.key(), TEMPLATE, LIFE)) {
            sandbox.run(List.of("cp", "-rL", "/opt/cay/runners", PLACE));
            for (Path file : tests()) {
                sandbox.write(PLACE + "/" + sources().relativize(file), Files.readAllBytes(file));
            }
            return sandbox.run(List.of(
                    "bash",
                    "-c",
                    "cd %s/%s && { %s; } 2>&1 && echo %s".formatted(PLACE, suite.language(), suite.command(), GOOD)));
        }
    }

    private static List<Path> tests() throws IOException {
        try (var files = Files.walk(sources())) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> file.toString().contains("/tests/"))
                    .filter(file -> !file.toString().contains("__pycache__"))
                    .toList();
        }
    }

    private static Path sources() {
        String home = System.getProperty("cay.home");
        if (home == null) {
            throw new CayException(
                    ErrorKind.FAILED, "the runners' tests lie in Cay's repository; run this from a clone of it");
        }
        return Path.of(home, "guest", "runners");
    }
}
