package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.platform.OwnCay;
import dev.cay.prove.fuzz.DaemonLog;
import dev.cay.prove.fuzz.FuzzTargets;
import dev.cay.prove.fuzz.Target;
import dev.cay.testing.NeedsRoot;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A few hundred inputs of each target of `cay prove fuzz`, and all that ever found something.
///
/// A seed means its input only as long as the target makes it in the same way. Whoever changes that plays the proof
/// again; what was found before has a test of its own where it was fixed.
@ExtendWith(TestPlatform.class)
@NeedsRoot
final class FuzzSeedsTest {
    private static final long LIMIT_SECONDS = 120;
    private static final int WORKERS = 8;
    private static final int FIXED = 200;

    /// What they found: a method too long for the head that is passed on; a client that left a call with a time limit;
    /// names too long to be matched; files of the kernel that cannot be read.
    private static final Map<String, List<Long>> KEPT = Map.of(
            "heads", List.of(995_118L, 1_089_472L),
            "frames", List.of(-431_290_446L, -431_290_067L, -431_290_022L),
            "multipart", List.of(-2_248_131L, -2_248_128L, -2_248_035L),
            "paths", List.of(-2_129_555_777L, -2_129_538_440L));

    @ParameterizedTest
    @ValueSource(strings = {"heads", "frames", "multipart", "paths", "guest", "layers", "dockerfiles"})
    void answersWhateverComes(String name, OwnCay platform) throws Exception {
        var log = new DaemonLog(platform);
        try (var target = new FuzzTargets(platform).open(name);
                ExecutorService workers = Executors.newFixedThreadPool(WORKERS)) {
            var seeds = LongStream.concat(
                    LongStream.range(0, FIXED),
                    KEPT.getOrDefault(name, List.of()).stream().mapToLong(seed -> seed));
            var plays = new ArrayList<Callable<String>>();
            seeds.forEach(seed -> plays.add(() -> wrong(target, seed)));
            var wrong = new ArrayList<String>();
            for (var played : workers.invokeAll(plays, LIMIT_SECONDS, TimeUnit.SECONDS)) {
                wrong.add(played.get());
            }
            assertThat(wrong).as("what must not happen").containsOnly("");
            assertThat(target.settle()).as("what is left").isEmpty();
            assertThat(log.news()).as("what is logged").isEmpty();
        }
    }

    private static String wrong(Target target, long seed) throws Exception {
        var played = target.play(seed);
        return played.isFine() ? "" : "%s, seed %d: %s".formatted(target.name(), seed, played.wrong());
    }
}
