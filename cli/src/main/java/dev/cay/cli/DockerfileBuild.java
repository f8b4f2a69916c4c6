package dev.cay.cli;

import dev.cay.dockerfile.BuildArguments;
import dev.cay.dockerfile.BuildContext;
import dev.cay.dockerfile.Buildable;
import dev.cay.dockerfile.DockerfileException;
import dev.cay.dockerfile.IgnoreRules;
import dev.cay.dockerfile.Instruction.Source;
import dev.cay.dockerfile.Instruction.Transfer;
import dev.cay.dockerfile.Position;
import dev.cay.dockerfile.Selection;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/// A Dockerfile of this machine that the daemon builds.
final class DockerfileBuild {
    private final Path dockerfile;
    private final Path context;
    private final Map<String, String> arguments;
    private final @Nullable String target;

    /// @param target the stage to build; null for the last one
    DockerfileBuild(Path dockerfile, Path context, Map<String, String> arguments, @Nullable String target) {
        this.dockerfile = dockerfile;
        this.context = context;
        this.arguments = Map.copyOf(arguments);
        this.target = target;
    }

    /// Refuses what the daemon would refuse.
    Buildable.Plan check() {
        try {
            return Buildable.read(text(), name(), BuildArguments.ofHost(arguments), target);
        } catch (DockerfileException e) {
            throw refused(e);
        }
    }

    private String text() {
        try {
            return Files.readString(dockerfile);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "%s cannot be read: %s".formatted(dockerfile, e), e);
        }
    }

    private String name() {
        return String.valueOf(dockerfile.getFileName());
    }

    private static CayException refused(DockerfileException e) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, String.valueOf(e.getMessage()), e);
    }

    /// Sends everything, and shows the log until the build ends. An interrupt cancels the build.
    ///
    /// @param request name, tags and sizes of the template
    /// @param logins  for the registries of its images, as the API takes them
    void run(TemplateBuildCall call, Map<String, Object> request, boolean noCache, List<Map<String, Object>> logins)
            throws InterruptedException {
        boolean needsContext = check().needsContext();
        var selection = needsContext ? selection() : null;
        call.run(request, template -> {
            var start = new LinkedHashMap<String, Object>();
            start.put("dockerfile", text());
            start.put("dockerfileName", name());
            start.put("buildArgs", arguments);
            start.put("force", noCache);
            start.put("registryLogins", logins);
            if (target != null) {
                start.put("target", target);
            }
            if (selection != null) {
                start.put("filesHash", send(call, template, selection));
            }
            return start;
        });
    }

    private Selection selection() {
        try {
            var all = new Source(new Position(1, 1), ".");
            var transfer = new Transfer(List.of(all), List.of(), "/", null, null, List.of(), false, false);
            return BuildContext.of(context, IgnoreRules.load(context, dockerfile))
                    .select(transfer, name(), new Position(1, 1));
        } catch (DockerfileException e) {
            throw refused(e);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "%s cannot be read: %s".formatted(context, e), e);
        }
    }

    /// @return the hash by which the daemon knows the files
    private static String send(TemplateBuildCall call, String template, Selection files) {
        try {
            String hash = files.hash();
            if (call.has(template, hash, "the build context")) {
                return hash;
            }
            var archive = Files.createTempFile("cay-context-", ".tar.gz");
            try {
                try (var packed = new GZIPOutputStream(new BufferedOutputStream(Files.newOutputStream(archive)))) {
                    files.writeTar(packed);
                }
                call.send(
                        template,
                        hash,
                        "the build context: %d files".formatted(files.entries().size()),
                        archive);
            } finally {
                Files.deleteIfExists(archive);
            }
            return hash;
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE, "the build context could not be packed: " + e.getMessage(), e);
        }
    }
}
