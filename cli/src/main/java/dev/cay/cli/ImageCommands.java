package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.life.Trees;
import dev.cay.node.image.BuildProgress;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.oci.ImageReference;
import dev.cay.node.image.oci.Images;
import dev.cay.node.image.oci.LayerLimits;
import dev.cay.node.image.oci.RegistryCredentials;
import dev.cay.node.image.oci.RegistrySettings;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Commands that carry templates as container images: in files, for machines without a network, and to registries.
final class ImageCommands {
    private static final String NAME = "A template's name or id, perhaps with a tag.";

    private ImageCommands() {}

    /// @return what it has to be asked for
    private static String path(String name) {
        int colon = name.indexOf(':');
        String tag = colon < 0 ? "" : "?tag=" + UserTemplates.encoded(name.substring(colon + 1));
        return UserTemplates.path(colon < 0 ? name : name.substring(0, colon)) + "/image" + tag;
    }

    /// Leaves nothing behind when it is cut off.
    private static void fetch(Api api, String name, Path file, ConsoleProgress progress) throws IOException {
        var part = file.resolveSibling(file.getFileName() + ".part");
        try {
            api.download(path(name), part, bytes -> progress.detail(PoolCommand.size(bytes)));
            Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(part);
        }
    }

    @Command(
            name = "export",
            mixinStandardHelpOptions = true,
            description =
                    "Write a template as a container image into a file, which `cay template import` of another Cay "
                            + "and `docker load` read.",
            footer = {"", "Examples:", "  ./cay template export my-template:v2 my-template.tar"})
    static final class Export implements Callable<Integer> {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Parameters(index = "0", paramLabel = "NAME[:TAG]", description = NAME)
        private String name = "";

        @Parameters(index = "1", paramLabel = "FILE", description = "The file to write; must not be there.")
        private Path file = Path.of("");

        @Override
        public Integer call() throws IOException {
            var target = file.toAbsolutePath().normalize();
            if (Files.exists(target)) {
                throw new CayException(
                        ErrorKind.CONFLICT,
                        "%s exists already; name another file".formatted(target),
                        new FileAlreadyExistsException(target.toString()));
            }
            var api = Api.of(options);
            var progress = new ConsoleProgress(System.out, InstantSource.system());
            progress.step("packing template " + name);
            Interruptible.run(() -> {
                fetch(api, name, target, progress);
                return 0;
            });
            progress.done("%s, %s".formatted(target, PoolCommand.size(Files.size(target))));
            return 0;
        }
    }

    @Command(
            name = "import",
            mixinStandardHelpOptions = true,
            description =
                    "Make a template of an image archive: a file of `cay template export`, of `docker save`, or an "
                            + "OCI layout as a tar file, compressed or not. Needs no registry and no network.",
            footer = {"", "Examples:", "  ./cay template import alpine.tar --name alpine"})
    static final class Import implements Callable<Integer> {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Parameters(paramLabel = "FILE", description = "The image archive.")
        private Path file = Path.of("");

        @Option(names = "--name", required = true, paramLabel = "NAME[:TAG]", description = "What it is called.")
        private String name = "";

        @Option(names = "--image", paramLabel = "IMAGE", description = "Which image of the archive, if it has several.")
        private @Nullable String image;

        @Option(names = "--cpu-count", paramLabel = "N", description = "Processors of its sandboxes.")
        private @Nullable Integer cpuCount;

        @Option(names = "--memory-mb", paramLabel = "N", description = "Memory of its sandboxes.")
        private @Nullable Integer memoryMB;

        @Override
        public Integer call() throws IOException {
            if (!Files.isRegularFile(file)) {
                throw new CayException(
                        ErrorKind.NOT_FOUND, "%s is no file; pack a directory with tar first".formatted(file));
            }
            var call = new TemplateBuildCall(Api.of(options), System.out);
            String hash = hash(file);
            Interruptible.run(() -> {
                call.run(request(), template -> start(call, template, hash));
                return 0;
            });
            return 0;
        }

        private Map<String, Object> request() {
            var request = new LinkedHashMap<String, Object>();
            request.put("name", name);
            if (cpuCount != null) {
                request.put("cpuCount", cpuCount);
            }
            if (memoryMB != null) {
                request.put("memoryMB", memoryMB);
            }
            return request;
        }

        private Map<String, Object> start(TemplateBuildCall call, String template, String hash) {
            try {
                if (!call.has(template, hash, "the archive")) {
                    call.send(template, hash, "the archive", file);
                }
            } catch (IOException e) {
                throw new CayException(ErrorKind.UNAVAILABLE, "%s cannot be read: %s".formatted(file, e), e);
            }
            var archive = new LinkedHashMap<String, Object>(Map.of("filesHash", hash));
            if (image != null) {
                archive.put("image", image);
            }
            return Map.of("fromArchive", archive);
        }

        private static String hash(Path file) throws IOException {
            try (var in = new DigestInputStream(Files.newInputStream(file), MessageDigest.getInstance("SHA-256"))) {
                in.transferTo(OutputStream.nullOutputStream());
                return HexFormat.of().formatHex(in.getMessageDigest().digest());
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException("every JDK has SHA-256", e);
            }
        }
    }

    @Command(
            name = "push",
            mixinStandardHelpOptions = true,
            description = "Send a template as a container image to a registry. This machine connects to the registry.",
            footer = {
                "",
                "Examples:",
                "  ./cay template push my-template:v2 registry.example/team/my-template:v2",
                "  ./cay template push mine registry.example/mine --username me --password-stdin < password"
            })
    static final class Push implements Callable<Integer> {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Parameters(index = "0", paramLabel = "NAME[:TAG]", description = NAME)
        private String name = "";

        @Parameters(index = "1", paramLabel = "IMAGE", description = "Where to, as REGISTRY/REPOSITORY[:TAG].")
        private String image = "";

        @Option(names = "--username", paramLabel = "NAME", description = "Who pushes; with --password-stdin.")
        private @Nullable String username;

        @Option(names = "--password-stdin", description = "Read the password from standard input.")
        private boolean passwordStdin;

        @Option(names = "--plain-http", description = "Speak to the registry without TLS.")
        private boolean plainHttp;

        @Override
        public Integer call() throws IOException {
            var reference = ImageReference.parse(image);
            if (reference.digest() != null) {
                throw new CayException(ErrorKind.INVALID_ARGUMENT, "name the image by a tag, not by a digest");
            }
            var credentials = credentials();
            var api = Api.of(options);
            var progress = new ConsoleProgress(System.out, InstantSource.system());
            var work = Files.createTempDirectory("cay-push-");
            var archive = work.resolve("image.tar");
            try {
                var digest = Interruptible.run(() -> {
                    progress.step("packing template " + name);
                    fetch(api, name, archive, progress);
                    progress.done(PoolCommand.size(Files.size(archive)));
                    progress.step("sending it to " + reference.registry());
                    var settings = RegistrySettings.DEFAULT
                            .withReach((_, _) -> true)
                            .withPlainHttp(plainHttp ? Set.of(reference.registry()) : Set.of());
                    try (var images = new Images(
                            new LayerStore(work),
                            work,
                            settings,
                            LayerLimits.DEFAULT,
                            () -> Images.client(settings).build())) {
                        return images.push(archive, reference, credentials, BuildProgress.paced(progress));
                    }
                });
                progress.done("%s@%s".formatted(reference, digest));
            } finally {
                Trees.delete(work);
            }
            return 0;
        }

        private RegistryCredentials credentials() throws IOException {
            if (username == null && !passwordStdin) {
                return RegistryCredentials.none();
            }
            if (username == null || !passwordStdin) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT, "--username and --password-stdin are given together or not at all");
            }
            String password = new String(System.in.readAllBytes(), StandardCharsets.UTF_8);
            return new RegistryCredentials.Password(username, password.strip());
        }
    }
}
