package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.cli.local.Root;
import dev.cay.life.Progress;
import dev.cay.node.image.BuildProgress;
import dev.cay.node.image.HouseTemplate;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "build",
        mixinStandardHelpOptions = true,
        description = {
            "Build a template from a Dockerfile, without a Docker engine; or make one that comes with Cay.",
            "A Dockerfile is checked here, its context is sent to the daemon, and the build's log is shown. Ctrl-C",
            "cancels the build. Needs no root, unless for a template that comes with Cay."
        },
        footer = {
            "",
            "Examples:",
            "  ./cay template build .",
            "  ./cay template build . --registry-user me --registry-password-stdin < password",
            "  ./cay template build app -f app/prod.Dockerfile --name app:v2 --build-arg VERSION=2 --target server",
            "  sudo ./cay template build code-interpreter-v1"
        })
final class TemplateBuildCommand implements Callable<Integer> {
    private static final List<String> FILES = List.of("Dockerfile", "e2b.Dockerfile");

    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Parameters(
            paramLabel = "PATH",
            description = "A directory with a Dockerfile or e2b.Dockerfile, which is the build context; a Dockerfile"
                    + " itself; or a name that `cay template list` shows.")
    private String path = "";

    @Option(
            names = {"-f", "--file"},
            paramLabel = "FILE",
            description = "The Dockerfile (default: the one in PATH).")
    private @Nullable Path file;

    @Option(
            names = "--name",
            paramLabel = "NAME[:TAG]",
            description = "What the template is called (default: like the directory).")
    private @Nullable String name;

    @Option(names = "--tag", paramLabel = "TAG", description = "One more tag of this build; may be repeated.")
    private List<String> tags = new ArrayList<>();

    @Option(
            names = "--build-arg",
            paramLabel = "NAME=VALUE",
            description = "Value of an ARG; without =VALUE that of the environment variable. May be repeated.")
    private List<String> buildArguments = new ArrayList<>();

    @Option(names = "--target", paramLabel = "STAGE", description = "The stage to build (default: the last one).")
    private @Nullable String target;

    @Option(names = "--cpu-count", paramLabel = "N", description = "Processors of its sandboxes.")
    private @Nullable Integer cpuCount;

    @Option(names = "--memory-mb", paramLabel = "N", description = "Memory of its sandboxes.")
    private @Nullable Integer memoryMB;

    @Option(
            names = "--min-free-disk-mb",
            paramLabel = "N",
            description = "Disk space that its sandboxes have for their own files, at least.")
    private @Nullable Integer minFreeDiskMb;

    @Mixin
    private RegistryOptions registries = new RegistryOptions();

    @Option(names = "--no-cache", description = "Do everything again, also what was done before.")
    private boolean noCache;

    @Override
    public Integer call() throws IOException {
        if (HouseTemplate.names().contains(path) && !Files.exists(Path.of(path))) {
            return makeHouseTemplate();
        }
        var place = Path.of(path).toAbsolutePath().normalize();
        if (!Files.exists(place)) {
            throw new CayException(
                    ErrorKind.NOT_FOUND,
                    "%s is neither a file or directory nor one of the templates %s"
                            .formatted(path, String.join(", ", HouseTemplate.names())));
        }
        var dockerfile =
                file == null ? dockerfile(place) : file.toAbsolutePath().normalize();
        var context = Files.isDirectory(place) ? place : parent(place);
        var build = new DockerfileBuild(dockerfile, context, arguments(), target);
        var logins = registries.logins(build.check().images());
        Interruptible.run(() -> {
            build.run(new TemplateBuildCall(Api.of(options), System.out), request(context), noCache, logins);
            return 0;
        });
        return 0;
    }

    private static Path dockerfile(Path place) {
        if (!Files.isDirectory(place)) {
            return place;
        }
        return FILES.stream()
                .map(place::resolve)
                .filter(Files::isRegularFile)
                .findFirst()
                .orElseThrow(() -> new CayException(
                        ErrorKind.NOT_FOUND, "%s has no Dockerfile; name one by -f FILE".formatted(place)));
    }

    private static Path parent(Path file) {
        var parent = file.getParent();
        return parent == null ? file : parent;
    }

    private Map<String, String> arguments() {
        var arguments = new LinkedHashMap<String, String>();
        for (String argument : buildArguments) {
            int equals = argument.indexOf('=');
            String known = equals < 0 ? System.getenv(argument) : argument.substring(equals + 1);
            if (known != null) {
                arguments.put(equals < 0 ? argument : argument.substring(0, equals), known);
            }
        }
        return arguments;
    }

    private Map<String, Object> request(Path context) {
        var request = new LinkedHashMap<String, Object>();
        request.put("name", name == null ? usualName(context) : name);
        request.put("tags", tags);
        if (cpuCount != null) {
            request.put("cpuCount", cpuCount);
        }
        if (memoryMB != null) {
            request.put("memoryMB", memoryMB);
        }
        if (minFreeDiskMb != null) {
            request.put("minFreeDiskMb", minFreeDiskMb);
        }
        return request;
    }

    private static String usualName(Path context) {
        String directory = String.valueOf(context.getFileName()).toLowerCase(Locale.ROOT);
        String usual = directory.replaceAll("[^a-z0-9_-]+", "-").replaceAll("^-+|-+$", "");
        if (usual.isEmpty() || context.getFileName() == null) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "name the template by --name NAME");
        }
        return usual;
    }

    private int makeHouseTemplate() {
        var config = options.config();
        Root.require(
                "template build",
                "to make files that belong to all users of a sandbox",
                options.command("template build " + path));
        var template = HouseTemplates.of(config, path);
        Progress progress = new ConsoleProgress(System.out, InstantSource.system());
        progress.step(
                template.isBuilt()
                        ? "making template " + path
                        : "making template %s, about %,d MB of disk".formatted(path, template.missingMB()));
        List<String> layers = Interruptible.run(() -> template.build(BuildProgress.paced(progress)));
        progress.done("template %s, %s in %d layers".formatted(path, PoolCommand.size(template.size()), layers.size()));
        return 0;
    }
}
