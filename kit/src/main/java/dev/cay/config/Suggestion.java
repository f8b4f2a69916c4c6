package dev.cay.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// Finds the known name that is closest to an unknown one, for "did you mean".
public final class Suggestion {
    private Suggestion() {}

    public static Optional<String> of(String wrong, Collection<String> known) {
        return several(wrong, known, 1).stream().findFirst();
    }

    /// The nearest first.
    ///
    /// @param most how many at most
    public static List<String> several(String wrong, Collection<String> known, int most) {
        record Candidate(String name, int distance) {}
        int allowed = Math.max(2, wrong.length() / 4);
        return known.stream()
                .map(name -> new Candidate(name, distance(wrong, name)))
                .filter(candidate -> candidate.distance() <= allowed)
                .sorted(Comparator.comparingInt(Candidate::distance))
                .limit(most)
                .map(Candidate::name)
                .toList();
    }

    /// A name without its section (`port` for `http.port`) counts as a near miss.
    private static int distance(String wrong, String name) {
        String a = wrong.toLowerCase(Locale.ROOT);
        String b = name.toLowerCase(Locale.ROOT);
        String tail = b.substring(b.lastIndexOf('.') + 1);
        boolean sectionMissing = a.equals(tail) || (a.startsWith("cay_") && b.endsWith(a.substring(3)));
        return sectionMissing ? 1 : edits(a, b);
    }

    /// Insertions, deletions and replacements that turn one into the other.
    private static int edits(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replace = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replace, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[b.length()];
    }
}
