package dev.cay.acceptance;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicNode;

/// The files of `src/test/js`, run with a client by Node's own test runner.
record ClientTests(NpmClient client) {
    private static final Pattern RESULT = Pattern.compile("^(ok|not ok) \\d+ - (.*?)( # SKIP.*)?$");
    private static final Pattern REMARK = Pattern.compile("^# (covers|has) (.*)$");

    /// One test of a test file, as the client's run reported it.
    ///
    /// @param covers public methods of the client that the test calls, like `Commands.run`
    record Result(String name, boolean passed, boolean skipped, List<String> covers) {
        Result {
            covers = List.copyOf(covers);
        }
    }

    /// What a run of a test file gave; the output is for people.
    ///
    /// @param methods all public methods of the client, if this file tells them
    record Run(List<Result> results, List<String> methods, String output) {
        Run {
            results = List.copyOf(results);
            methods = List.copyOf(methods);
        }

        /// Each case as a test of its own.
        List<DynamicNode> cases(OwnCay platform) {
            var cases = new ArrayList<DynamicNode>();
            cases.add(dynamicTest(
                    "the run", () -> assertTrue(!results.isEmpty(), () -> output + "\n" + platform.output())));
            for (var result : results) {
                cases.add(dynamicTest(result.name(), () -> {
                    Assumptions.assumeFalse(result.skipped(), "this client has no such call");
                    assertTrue(result.passed(), () -> complaint(result.name()) + "\n" + output);
                }));
            }
            return cases;
        }

        /// What the report of a case says is wrong, on one line, as the first line of a failure is what people see.
        /// With it goes the last request that broke before, which may be why.
        private String complaint(String name) {
            var error = output.lines()
                    .dropWhile(line -> !failed(line, name))
                    .dropWhile(line -> !line.startsWith("  error:"))
                    .takeWhile(line -> !line.startsWith("  code:") && !line.startsWith("  stack:"))
                    .map(String::strip);
            var broken = output.lines()
                    .takeWhile(line -> !failed(line, name))
                    .filter(line -> line.startsWith("broken: "))
                    .reduce((_, last) -> last);
            return Stream.concat(error, broken.stream()).collect(Collectors.joining(" ", name + ": ", ""));
        }

        private static boolean failed(String line, String name) {
            return line.startsWith("not ok") && line.endsWith(name);
        }
    }

    /// Which public methods of the client no case has called, of all those that its runs tell.
    static Set<String> uncovered(Collection<Run> runs) {
        var methods = new TreeSet<String>();
        runs.forEach(run -> methods.addAll(run.methods()));
        runs.stream()
                .flatMap(run -> run.results().stream())
                .filter(result -> !result.skipped())
                .forEach(result -> methods.removeAll(result.covers()));
        return methods;
    }

    static Set<String> methods(Collection<Run> runs) {
        return runs.stream().flatMap(run -> run.methods().stream()).collect(Collectors.toSet());
    }

    Run run(String file, Map<String, String> environment) throws IOException, InterruptedException {
        var path = Path.of("src/test/js", file).toString();
        // Old clients leave timers of a minute behind.
        var process = client.program(
                        environment, "node", "--test-reporter=tap", "--test-force-exit", "--test-timeout=300000", path)
                .redirectErrorStream(true)
                .start();
        var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(10, MINUTES)) {
            process.destroyForcibly();
        }
        return read(output);
    }

    /// Remarks of a test follow its result.
    private static Run read(String output) {
        var results = new ArrayList<Result>();
        var methods = new ArrayList<String>();
        for (var line : output.lines().toList()) {
            var result = RESULT.matcher(line);
            var remark = REMARK.matcher(line);
            if (result.matches()) {
                results.add(
                        new Result(result.group(2), result.group(1).equals("ok"), result.group(3) != null, List.of()));
            } else if (remark.matches()) {
                var words = List.of(remark.group(2).split(" "));
                if (remark.group(1).equals("has")) {
                    methods.addAll(words);
                } else {
                    var last = results.removeLast();
                    results.add(new Result(last.name(), last.passed(), last.skipped(), words));
                }
            }
        }
        return new Run(results, methods, output);
    }
}
