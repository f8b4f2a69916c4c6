package dev.cay.dockerfile;

import dev.cay.dockerfile.Instruction.Add;
import dev.cay.dockerfile.Instruction.Copy;
import dev.cay.dockerfile.Instruction.Run;
import dev.cay.dockerfile.StageGraph.Origin;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads a Dockerfile and refuses what builds of this platform cannot do, before anything runs.
public final class Buildable {
    private final Dockerfile dockerfile;
    private final BuildArguments arguments;
    private final Problems problems = new Problems();

    private Buildable(Dockerfile dockerfile, BuildArguments arguments) {
        this.dockerfile = dockerfile;
        this.arguments = arguments;
    }

    /// A Dockerfile with the stages that its target needs, each behind those it needs.
    public record Plan(Dockerfile dockerfile, List<StageGraph.Node> nodes) {
        public Plan {
            nodes = List.copyOf(nodes);
        }

        public boolean needsContext() {
            return nodes.stream().anyMatch(StageGraph.Node::needsContext);
        }

        /// Names of the images that the build needs, as the Dockerfile has them.
        public Set<String> images() {
            var images = new LinkedHashSet<String>();
            for (var node : nodes) {
                Stream.concat(Stream.of(node.base()), node.sources().values().stream())
                        .forEach(origin -> {
                            if (origin instanceof Origin.OfImage image) {
                                images.add(image.reference());
                            }
                        });
            }
            return images;
        }
    }

    /// @param target a stage's name or number; null for the last one
    /// @throws DockerfileException with all problems that can be found without the images
    public static Plan read(String text, String fileName, BuildArguments arguments, @Nullable String target) {
        var dockerfile = Dockerfile.parse(text, fileName);
        var nodes = StageGraph.plan(dockerfile, arguments, target);
        var check = new Buildable(dockerfile, arguments);
        nodes.forEach(check::check);
        check.problems.throwIfAny();
        return new Plan(dockerfile, nodes);
    }

    private void check(StageGraph.Node node) {
        String platform = node.base() instanceof Origin.OfImage image ? image.platform() : null;
        if (platform != null && !arguments.platform().equals(platform)) {
            refuse(
                    node.stage().at(),
                    "an image for %s cannot be built on here".formatted(Excerpt.of(platform)),
                    "this machine is " + arguments.platform());
        }
        for (var instruction : node.stage().instructions()) {
            switch (instruction) {
                case Run run -> run.mounts().forEach(mount -> check(run, mount));
                case Add add -> check(add);
                case Copy copy -> check(copy);
                default -> {}
            }
        }
    }

    private void check(Run run, Mount mount) {
        if (mount instanceof Mount.Secret secret && secret.required()) {
            refuse(run.at(), "secrets are not supported", "pass what is no secret by --build-arg");
        }
        if (mount instanceof Mount.Cache cache && cache.from() != null) {
            refuse(run.at(), "a cache cannot begin with files of a stage", "remove from= of the mount");
        }
    }

    private void check(Copy copy) {
        boolean special =
                copy.transfer().parents() || !copy.transfer().excludes().isEmpty();
        if (copy.from() != null && special) {
            refuse(copy.at(), "--parents and --exclude are not supported with --from", "copy fewer files by name");
        }
    }

    private void check(Add add) {
        for (var source : add.transfer().sources()) {
            if (source.isGit()) {
                refuse(source.at(), "ADD of a Git repository is not supported", "use RUN git clone");
            }
        }
    }

    private void refuse(Position at, String what, String fix) {
        problems.add(new DockerfileException(dockerfile.fileName(), at, what, fix));
    }
}
