package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.config.CayConfig;
import dev.cay.life.Trees;
import dev.cay.node.image.BuildProgress;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.oci.ImageReference;
import dev.cay.node.image.oci.Images;
import dev.cay.node.image.oci.LayerLimits;
import dev.cay.node.image.oci.RegistryCredentials;
import dev.cay.node.mcp.catalog.Catalog;
import dev.cay.node.mcp.catalog.ServerLaunch;
import dev.cay.node.mcp.server.ServerImages;
import dev.cay.web.HostRoots;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Carries images of MCP servers to machines that reach no registry.
final class McpImageCommands {
    private static final String LAYOUT = "index.json";

    private McpImageCommands() {}

    private static Catalog catalog(CayConfig config) {
        return Catalog.load(config.mcp().catalogs(), config.mcp().overrides());
    }

    private static Images images(CayConfig config, LayerStore layers, Path cache) {
        var settings = Registries.of(config.images());
        return new Images(
                layers,
                cache,
                settings,
                LayerLimits.DEFAULT,
                () -> Images.client(settings).sslContext(HostRoots.tls()).build());
    }

    /// The image's full name for each key that has one.
    private static Map<String, String> references(Catalog catalog) {
        var references = new LinkedHashMap<String, String>();
        for (var server : catalog.servers()) {
            server.launch(ServerLaunch.Image.class)
                    .ifPresent(image -> references.put(
                            server.key(),
                            ImageReference.parse(image.reference()).toString()));
        }
        return references;
    }

    @Command(
            name = "fetch",
            mixinStandardHelpOptions = true,
            description = "Fetch images of MCP servers into a directory, for machines that reach no registry.",
            footer = {
                "",
                "The directory is an OCI layout; images share what they have in common. They are",
                "for the CPU of this machine. Take it to the other machine, and import it there:",
                "",
                "  ./cay mcp catalog fetch githubOfficial sonarqube --to /media/usb/servers",
                "  sudo ./cay mcp catalog import /media/usb/servers"
            })
    static final class Fetch implements Callable<Integer> {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Parameters(arity = "1..*", paramLabel = "KEY", description = "Servers, by their keys.")
        private List<String> keys = List.of();

        @Option(
                names = "--to",
                required = true,
                paramLabel = "DIR",
                description = "The directory to write to; created if it does not exist.")
        private Path to = Path.of(".");

        @Override
        public Integer call() throws IOException {
            var config = options.config();
            var wanted = wanted(catalog(config));
            Files.createDirectories(to);
            var progress = new ConsoleProgress(System.out, InstantSource.system());
            var work = Files.createTempDirectory("cay-fetch-");
            try (var images = images(config, new LayerStore(work), work)) {
                for (var each : wanted.entrySet()) {
                    progress.step("fetching %s, image %s".formatted(each.getKey(), each.getValue()));
                    var digest = Interruptible.run(() -> images.fetch(
                            ImageReference.parse(each.getValue()),
                            RegistryCredentials.none(),
                            to,
                            BuildProgress.paced(progress)));
                    progress.done(digest.toString());
                }
            } finally {
                Trees.delete(work);
            }
            return 0;
        }

        private Map<String, String> wanted(Catalog catalog) {
            var all = references(catalog);
            var wanted = new LinkedHashMap<String, String>();
            var without = new ArrayList<String>();
            for (String key : keys) {
                String reference = all.get(catalog.require(key).key());
                if (reference == null) {
                    without.add(key);
                } else {
                    wanted.put(key, reference);
                }
            }
            if (!without.isEmpty()) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT,
                        "%s: published in other ways than as an image; `cay mcp catalog show KEY` lists them"
                                .formatted(String.join(", ", without)));
            }
            return wanted;
        }
    }

    @Command(
            name = "import",
            mixinStandardHelpOptions = true,
            description = "Take images of MCP servers out of a directory that `fetch` wrote.",
            footer = {
                "",
                "Servers whose images are there start without a registry from then on. Needs root.",
                "",
                "  sudo ./cay mcp catalog import /media/usb/servers"
            })
    static final class Import implements Callable<Integer> {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Parameters(paramLabel = "DIR", description = "The directory.")
        private Path from = Path.of(".");

        @Parameters(
                index = "1..*",
                arity = "0..*",
                paramLabel = "KEY",
                description = "Only these servers (default: all whose images are there).")
        private @Nullable List<String> keys;

        @Override
        public Integer call() throws IOException {
            if (!Files.isRegularFile(from.resolve(LAYOUT))) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT,
                        "%s is no directory of images; `cay mcp catalog fetch KEY... --to DIR` makes one"
                                .formatted(from));
            }
            var config = options.config();
            var found = found(catalog(config), Images.names(from));
            var progress = new ConsoleProgress(System.out, InstantSource.system());
            var layers = new LayerStore(config.cacheDir(), config.stateDir());
            try (var images = images(config, layers, config.cacheDir());
                    var servers = new ServerImages(images, layers, ServerImages.lockFile(config.stateDir()))) {
                for (var each : found.entrySet()) {
                    progress.step("importing %s, image %s".formatted(each.getKey(), each.getValue()));
                    progress.done(Interruptible.run(
                            () -> servers.load(from, each.getValue(), BuildProgress.paced(progress))));
                }
            }
            return 0;
        }

        private Map<String, String> found(Catalog catalog, List<String> names) {
            var wanted = keys == null ? List.<String>of() : keys;
            wanted.forEach(catalog::require);
            var found = references(catalog).entrySet().stream()
                    .filter(each -> names.contains(each.getValue()))
                    .filter(each -> wanted.isEmpty() || wanted.contains(each.getKey()))
                    .collect(Collectors.toMap(
                            Map.Entry::getKey, Map.Entry::getValue, (one, _) -> one, LinkedHashMap::new));
            var missing = wanted.stream().filter(key -> !found.containsKey(key)).toList();
            if (!missing.isEmpty() || found.isEmpty()) {
                throw new CayException(
                        ErrorKind.NOT_FOUND,
                        missing.isEmpty()
                                ? "%s has no image that the catalog names".formatted(from)
                                : "%s has no image of %s".formatted(from, String.join(", ", missing)));
            }
            return found;
        }
    }
}
