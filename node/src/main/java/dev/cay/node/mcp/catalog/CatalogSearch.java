package dev.cay.node.mcp.catalog;

import dev.cay.config.Suggestion;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Finds entries by words. A server's own name counts more than its description, whole words more than prefixes;
/// entries that match all words come before others. An unknown word is replaced by the nearest known one.
final class CatalogSearch {
    private static final int KEY = 100;
    private static final int NAMED = 50;
    private static final int ABOUT = 30;
    private static final int CATEGORY = 10;
    private static final int SHORTEST_BEGINNING = 3;

    /// The words of a server; those of its name separately.
    private record Subject(CatalogServer server, String key, Set<String> named, Set<String> about) {
        static Subject of(CatalogServer server) {
            var about = new LinkedHashSet<>(words(server.tags()));
            about.addAll(words(server.words()));
            return new Subject(
                    server,
                    server.key().toLowerCase(Locale.ROOT),
                    words(List.of(camelWords(server.key()), server.name(), server.title())),
                    about);
        }

        int score(String word) {
            if (key.equals(word)) {
                return KEY;
            }
            if (named.contains(word)) {
                return NAMED;
            }
            if (about.contains(word)) {
                return ABOUT;
            }
            if (server.category().equals(word)) {
                return CATEGORY;
            }
            if (word.length() < SHORTEST_BEGINNING) {
                return 0;
            }
            return begins(named, word) ? NAMED / 3 : begins(about, word) ? ABOUT / 3 : 0;
        }

        private static boolean begins(Set<String> words, String beginning) {
            return words.stream().anyMatch(word -> word.startsWith(beginning));
        }

        Stream<String> all() {
            return Stream.of(Set.of(key, server.category()), named, about).flatMap(Set::stream);
        }
    }

    private final List<Subject> subjects;

    CatalogSearch(Collection<CatalogServer> servers) {
        this.subjects = servers.stream().map(Subject::of).toList();
    }

    /// The best first.
    List<CatalogServer> find(List<String> query) {
        var found = exact(query);
        return found.isEmpty() ? ranked(nearest(words(query))) : found;
    }

    /// Finds entries without replacing unknown words.
    List<CatalogServer> exact(List<String> query) {
        return ranked(words(query));
    }

    private List<CatalogServer> ranked(Set<String> words) {
        ToIntFunction<Subject> matches = subject ->
                (int) words.stream().filter(word -> subject.score(word) > 0).count();
        int most = subjects.stream().mapToInt(matches).max().orElse(0);
        return subjects.stream()
                .filter(subject -> most > 0 && matches.applyAsInt(subject) == most)
                .sorted(Comparator.<Subject>comparingInt(subject ->
                                words.stream().mapToInt(subject::score).sum())
                        .reversed()
                        .thenComparing(subject -> subject.server().key()))
                .map(Subject::server)
                .toList();
    }

    private Set<String> nearest(Set<String> words) {
        var known = subjects.stream().flatMap(Subject::all).collect(Collectors.toCollection(LinkedHashSet::new));
        var nearest = new LinkedHashSet<String>();
        for (String word : words) {
            // Almost any short word is near another.
            if (word.length() > SHORTEST_BEGINNING) {
                Suggestion.of(word, known).ifPresent(nearest::add);
            }
        }
        return nearest;
    }

    static String camelWords(String key) {
        return key.replaceAll("([a-z0-9])([A-Z])", "$1 $2");
    }

    private static Set<String> words(List<String> texts) {
        var words = new ArrayList<String>();
        for (String text : texts) {
            words.addAll(List.of(text.toLowerCase(Locale.ROOT).split("[^\\p{L}\\p{N}#+]+")));
        }
        return words.stream().filter(word -> !word.isEmpty()).collect(Collectors.toCollection(LinkedHashSet::new));
    }
}
