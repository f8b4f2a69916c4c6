package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/// Circles of classes and classes that hold many others are known, and become fewer. Each list has one line for one of
/// them; a line goes when it is no longer true, and none comes.
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

    @Test
    void classesWithManyCollaboratorsBecomeFewer() throws IOException {
        check(
                "crowded.txt",
                new TreeSet<>(structure.crowded().keySet()),
                "classes that hold more than %d others in their fields: let a class of its own do a part of the work"
                        .formatted(Structure.MOST_COLLABORATORS));
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
        assertThat(gone)
                .as("lines that are no longer true: take them out of acceptance/src/test/resources/structure/" + list)
                .isEmpty();
    }

    private static SortedSet<String> known(String list) throws IOException {
        try (var in = Objects.requireNonNull(StructureTest.class.getResourceAsStream("/structure/" + list), list)) {
            return new TreeSet<>(new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList());
        }
    }
}
