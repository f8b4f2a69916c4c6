package dev.cay.node.mcp.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// What `catalog/servers.yaml` holds, against what E2B's clients can write.
@Fast
final class BuiltInCatalogTest {
    private static final List<CatalogServer> SERVERS = Catalog.builtIn().servers();

    @Test
    void hasEveryKeyAndOptionOfTheClientsAndNoOther() throws Exception {
        var here = new TreeMap<String, Set<String>>();
        SERVERS.forEach(server -> here.put(server.key(), server.options().keySet()));
        var there = clientOptions();
        assertThat(there).hasSize(265);
        assertThat(here).isEqualTo(there);
    }

    private static Map<String, Set<String>> clientOptions() throws IOException {
        var options = new TreeMap<String, Set<String>>();
        try (var in = Objects.requireNonNull(BuiltInCatalogTest.class.getResourceAsStream("e2b-options.txt"))) {
            new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(line -> List.of(line.split(" ")))
                    .forEach(words -> options.put(words.getFirst(), Set.copyOf(words.subList(1, words.size()))));
        }
        return options;
    }

    @Test
    void countsAreThoseOfTheSources() {
        var options = SERVERS.stream().flatMap(server -> server.options().values().stream());
        var secret = options.collect(Collectors.partitioningBy(CatalogServer.Option::secret, Collectors.counting()));
        assertThat(secret).containsEntry(true, 205L).containsEntry(false, 344L);
        assertThat(with(ServerLaunch.Image.class)).hasSize(237);
        // 28 of the sources, and those that vendors offer beside an image.
        assertThat(with(ServerLaunch.Remote.class)).hasSize(35);
        assertThat(with(ServerLaunch.Npm.class)).hasSize(56);
        assertThat(with(ServerLaunch.Npm.class).stream().filter(ServerLaunch.Npm::confirmed))
                .hasSize(51);
        assertThat(with(ServerLaunch.Image.class).stream().filter(image -> image.registry() != null))
                .hasSize(9);
        assertThat(SERVERS.stream().map(CatalogServer::name)).doesNotHaveDuplicates();
        assertThat(SERVERS.stream().filter(server -> server.options().isEmpty()))
                .hasSize(58);
    }

    private static <T extends ServerLaunch> List<T> with(Class<T> kind) {
        return SERVERS.stream().flatMap(server -> server.launch(kind).stream()).toList();
    }

    /// Loading refuses one that does not; here it is counted that none was lost.
    @Test
    void everyPlaceholderOfTheSourcesIsThereAndMeansSomething() {
        long direct = SERVERS.stream()
                .flatMap(server -> server.options().values().stream())
                .filter(option -> !option.secret() && option.env() != null)
                .count();
        var references = SERVERS.stream()
                .flatMap(server -> templates(server)
                        .flatMap(template ->
                                template.references().stream().map(reference -> Map.entry(server, reference))))
                .toList();
        assertThat(references).allSatisfy(entry -> {
            var reference = entry.getValue();
            var known = reference.source() == Template.Source.OPTION
                    ? entry.getKey().options().keySet()
                    : entry.getKey().variables();
            assertThat(known).contains(reference.name());
        });
        assertThat(direct + references.size()).isEqualTo(368);
    }

    private static Stream<Template> templates(CatalogServer server) {
        var needs = server.needs();
        return Stream.of(
                        needs.env().values().stream(),
                        needs.arguments().stream(),
                        needs.volumes().stream(),
                        Stream.ofNullable(needs.user()),
                        server.ways().stream()
                                .flatMap(way -> Stream.concat(way.env().values().stream(), way.templates())))
                .flatMap(each -> each);
    }

    @Test
    void everyKeyHasAWayThatNeedsNoWordOfTheOperator() {
        var catalog = Catalog.builtIn();
        assertThat(SERVERS)
                .hasSize(265)
                .allSatisfy(server ->
                        assertThat(catalog.ways(server)).as(server.key()).isNotEmpty());
        assertThat(SERVERS.stream()
                        .filter(server -> server.launch(ServerLaunch.Npm.class)
                                .filter(npm -> !npm.confirmed())
                                .isPresent())
                        .map(CatalogServer::key))
                .containsExactly("effect", "markdownify", "nextDevtools", "resend", "webflow");
    }

    /// What gets a user's token is what the vendor documents.
    @Test
    void aRemoteWayBesideAnotherNamesThePageThatDocumentsIt() {
        var beside = SERVERS.stream()
                .filter(server -> server.launch(ServerLaunch.Image.class).isPresent())
                .flatMap(server -> server.way("remote").stream())
                .toList();
        assertThat(beside).hasSize(7).allSatisfy(way -> assertThat(way.see()).isNotNull());
    }

    /// The name of the variable without the server's in front, in camel case.
    @Test
    void aSecretIsNamedForItsVariable() {
        var wrong = new ArrayList<String>();
        for (CatalogServer server : SERVERS) {
            String prefix = server.name().toUpperCase(Locale.ROOT) + "_";
            for (var option : server.options().values()) {
                if (option.secret()) {
                    String variable = Objects.requireNonNull(option.env());
                    String rest = variable.startsWith(prefix) ? variable.substring(prefix.length()) : variable;
                    if (!camelCase(rest).equals(option.name())) {
                        wrong.add(server.key() + "." + option.name());
                    }
                }
            }
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void aKeyIsTheNameWithoutWhatAllHaveInCommon() {
        for (CatalogServer server : SERVERS) {
            String name = server.name()
                    .toLowerCase(Locale.ROOT)
                    .replaceFirst("-mcp(-server)?$", "")
                    .replaceFirst("^mcp-", "");
            assertThat(camelCase(name)).isEqualTo(server.key());
        }
    }

    private static String camelCase(String name) {
        var words = Arrays.asList(name.toLowerCase(Locale.ROOT).split("[-_]"));
        return words.getFirst()
                + words.stream()
                        .skip(1)
                        .map(word -> word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1))
                        .collect(Collectors.joining());
    }

    @Test
    void onlyTheArchivedSentryPutsASecretOnItsCommandLine() {
        var doing = SERVERS.stream()
                .filter(server -> server.needs().arguments().stream()
                        .flatMap(template -> template.references().stream())
                        .anyMatch(reference -> isSecret(server, reference)))
                .map(CatalogServer::key);
        assertThat(doing).containsExactly("sentry");
    }

    private static boolean isSecret(CatalogServer server, Template.Reference reference) {
        return server.options().values().stream()
                .filter(CatalogServer.Option::secret)
                .anyMatch(option -> reference.name().equals(option.name())
                        || reference.name().equals(option.env()));
    }

    @Test
    void namesNoHostOfAnyRegistry() throws Exception {
        String text = Files.readString(Path.of("../catalog/servers.yaml"));
        assertThat(text).doesNotContainPattern("image: \\{name: '?[a-z0-9-]+\\.[a-z0-9.-]+/");
        assertThat(with(ServerLaunch.Image.class).stream().map(ServerLaunch.Image::name))
                .allSatisfy(name -> assertThat(name.split("/")[0]).doesNotContain("."));
    }
}
