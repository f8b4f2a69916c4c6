package dev.cay.dockerfile;

import dev.cay.dockerfile.DockerfileException.Problem;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// Collects problems, so that an author sees all of them at once.
final class Problems {
    private static final int MOST_SHOWN = 50;

    private final List<Problem> found = new ArrayList<>();
    private int more;

    void add(DockerfileException refusal) {
        for (var problem : refusal.problems()) {
            if (found.size() < MOST_SHOWN) {
                found.add(problem);
            } else {
                more++;
            }
        }
    }

    void throwIfAny() {
        if (!found.isEmpty()) {
            found.sort(Comparator.comparing(Problem::at));
            throw new DockerfileException(found, more);
        }
    }
}
