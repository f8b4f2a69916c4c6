package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/// Circles of classes and classes that hold many others are known, and become fewer and smaller. Each list has one line
/// for one of them; a line goes or gets a smaller number when it is no longer true, and none comes.
@Fast
final class StructureTest {
    private final Structure structure = new Structure(ArchitectureTest.CAY);

    @Test
    void circlesInsidePackagesBecomeFewer() throws IOException {
        check(
                "circles.txt",
                structure.circles(),
                "circles of classes that are not known: let one of them not need the others, by moving what both need"
                        + " to a class of its own or by an interface that the user declares");
    }

    /// A line is `dev.cay.http.Exchange 12`: the class, and how many others it holds.
    @Test
    void classesWithManyCollaboratorsBecomeFewer() throws IOException {
        var known = new TreeMap<String, Integer>();
        for (String line : known("crowded.txt")) {
            int blank = line.indexOf(' ');
            known.put(line.substring(0, blank), Integer.valueOf(line.substring(blank + 1)));
        }
        var found = new TreeMap<String, Integer>();
        structure.crowded().forEach((type, others) -> found.put(type, others.size()));
        assertThat(larger(found, known))
                .as(
                        "classes that hold more others in their fields than crowded.txt says, or than %d: let a class of"
                                + " its own do a part of the work",
                        Structure.MOST_COLLABORATORS)
                .isEmpty();
        assertThat(larger(known, found)).as(untrue("crowded.txt")).isEmpty();
    }

    /// Lines of `these` that have a larger number than in `those`, or are not there.
    private static SortedSet<String> larger(Map<String, Integer> these, Map<String, Integer> those) {
        var larger = new TreeSet<String>();
        these.forEach((type, number) -> {
            if (number > those.getOrDefault(type, 0)) {
                larger.add(type + " " + number);
            }
        });
        return larger;
    }

    /// Inside a module a name says everything: whoever reads it in a message or a search finds one class.
    @Test
    void noModuleHasTwoClassesOfOneName() {
        assertThat(structure.namesThatStandTwice())
                .as("names that two classes of one module have: say in each name what is different")
                .isEmpty();
    }

    private static void check(String list, SortedSet<String> found, String advice) throws IOException {
        var known = known(list);
        var news = new TreeSet<>(found);
        news.removeAll(known);
        assertThat(news).as(advice).isEmpty();
        var gone = new TreeSet<>(known);
        gone.removeAll(found);
        assertThat(gone).as(untrue(list)).isEmpty();
    }

    private static String untrue(String list) {
        return "lines that are no longer true: correct acceptance/src/test/resources/structure/" + list;
    }

    private static SortedSet<String> known(String list) throws IOException {
        try (var in = Objects.requireNonNull(StructureTest.class.getResourceAsStream("/structure/" + list), list)) {
            return new TreeSet<>(new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList());
        }
    }
}
