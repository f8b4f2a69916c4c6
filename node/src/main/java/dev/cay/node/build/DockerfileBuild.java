package dev.cay.node.build;

import dev.cay.dockerfile.BuildArguments;
import dev.cay.dockerfile.Buildable;
import dev.cay.dockerfile.DockerfileException;
import dev.cay.dockerfile.Evaluation;
import dev.cay.dockerfile.Instruction.Timing;
import dev.cay.dockerfile.StageGraph;
import dev.cay.dockerfile.StageGraph.Origin;
import dev.cay.dockerfile.StageState;
import dev.cay.node.image.LayerView;
import dev.cay.node.image.oci.ImageConfig;
import dev.cay.node.image.oci.ImageReference;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.BuildPlan;
import dev.cay.wire.node.RegistryLogin;
import dev.cay.wire.node.StartCommand;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Builds Dockerfiles: one stage after the other, as far as the target needs them.
final class DockerfileBuild {
    private static final String USER = "user";
    private static final String SCRATCH = "scratch-1";

    private final ImageBase images;
    private final LayerBuilder layerBuilder;

    DockerfileBuild(ImageBase images, LayerBuilder layerBuilder) {
        this.images = images;
        this.layerBuilder = layerBuilder;
    }

    ImageBase.Prepared begin(BuildPlan plan, BuildPlan.Base.Dockerfile base, BuildVoice voice) throws IOException {
        try (var sources = new FileSources(layerBuilder, plan, base.filesHash())) {
            var built = new Run(plan, base, voice, sources).run();
            voice.at("finalize", "[finalize]");
            var state = built.state();
            var layers = images.furnish(plan, layerBuilder.mountable(built.layers()), voice);
            return new ImageBase.Prepared(
                    layers,
                    new BuildState(
                            state.user().isEmpty() ? USER : state.user(),
                            state.workdir().equals("/") ? null : state.workdir(),
                            state.environment()),
                    start(state, layers));
        } catch (DockerfileException e) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, String.valueOf(e.getMessage()), e);
        }
    }

    private @Nullable StartCommand start(StageState state, List<String> layers) throws IOException {
        boolean shell =
                new LayerView(layerBuilder.roots(layers)).find("bin/bash").place() != null;
        return shell ? ImageStart.of(state) : ImageStart.withoutShell(state);
    }

    /// One build.
    private final class Run {
        private final BuildPlan plan;
        private final BuildPlan.Base.Dockerfile base;
        private final BuildVoice voice;
        private final FileSources sources;
        private final Map<Origin, BuiltStage> done = new HashMap<>();

        private Run(BuildPlan plan, BuildPlan.Base.Dockerfile base, BuildVoice voice, FileSources sources) {
            this.plan = plan;
            this.base = base;
            this.voice = voice;
            this.sources = sources;
        }

        private BuiltStage run() throws IOException {
            var arguments = BuildArguments.ofHost(base.arguments());
            var read = Buildable.read(base.text(), base.name(), arguments, base.target());
            var evaluation = new Evaluation(read.dockerfile(), arguments);
            BuiltStage last = null;
            int number = 0;
            for (var node : read.nodes()) {
                String label = node.stage().name() == null
                        ? "stage-" + node.stage().index()
                        : node.stage().name();
                voice.at("base", "[%s]".formatted(label));
                voice.say("FROM " + shown(node.base()));
                var from = from(node);
                var steps = evaluation.walk(node.stage(), from.state().asBase());
                var stage = new StageBuild(
                        layerBuilder,
                        plan,
                        voice,
                        new StageBuild.Texts(base.name(), label, base.text(), number),
                        sources,
                        name -> require(node.sources().getOrDefault(name, new Origin.Scratch()))
                                .layers(),
                        arguments.proxies(),
                        from.layers());
                last = stage.run(steps, from.state().asBase());
                number += steps.size();
                done.put(new Origin.OfStage(node.stage().index()), last);
            }
            if (last == null) {
                throw new IllegalStateException("a plan has at least its target");
            }
            return last;
        }

        private BuiltStage from(StageGraph.Node node) {
            try {
                return require(node.base());
            } catch (CayException e) {
                throw e.kind() == ErrorKind.CANCELED
                        ? e
                        : new CayException(
                                e.kind(),
                                "%s:%d: FROM %s: %s"
                                        .formatted(
                                                base.name(),
                                                node.stage().at().line(),
                                                shown(node.base()),
                                                e.userMessage()),
                                e);
            }
        }

        private BuiltStage require(Origin origin) {
            var known = done.get(origin);
            if (known == null) {
                known = switch (origin) {
                    case Origin.OfStage(int index) ->
                        throw new IllegalStateException("stage %d is not built yet".formatted(index));
                    case Origin.Scratch _ -> scratch();
                    case Origin.OfImage image -> image(image.reference());
                };
                done.put(origin, known);
            }
            return known;
        }

        private BuiltStage scratch() {
            layerBuilder.layers().build(SCRATCH, _ -> {});
            return new BuiltStage(List.of(SCRATCH), StageState.empty());
        }

        private BuiltStage image(String reference) {
            var local = base.images().get(reference);
            if (local != null) {
                return new BuiltStage(layerBuilder.layers(local), state(local));
            }
            String registry = ImageReference.parse(reference).registry();
            var login = base.logins().getOrDefault(registry, RegistryLogin.NONE);
            return pulled(reference, registry, login);
        }

        private BuiltStage pulled(String reference, String registry, RegistryLogin login) {
            try {
                var pulled = images.pull(reference, login, voice);
                return new BuiltStage(pulled.layerKeys(), state(pulled.config()));
            } catch (CayException e) {
                if (e.kind() != ErrorKind.PERMISSION_DENIED || !(login instanceof RegistryLogin.None)) {
                    throw e;
                }
                throw new CayException(
                        e.kind(),
                        "%s; for `cay template build` run `docker login %s` or give --registry-user, other clients send 'registryLogins'"
                                .formatted(e.userMessage(), registry),
                        e);
            }
        }

        private String shown(Origin origin) {
            return switch (origin) {
                case Origin.OfStage(int index) -> "stage " + index;
                case Origin.Scratch _ -> "scratch";
                case Origin.OfImage image -> image.reference();
            };
        }
    }

    /// The state of a stage that is based on a template. Its steps run as root, as those of an image do: the default
    /// user of sandboxes is not the template author's choice.
    private static StageState state(BuildPlan.Base.Layers template) {
        var environment = withPath(template.environment());
        var plain = StageState.withEnvironment(environment);
        String workdir = template.workdir();
        return state(
                environment,
                template.user().equals(USER) ? "" : template.user(),
                workdir == null ? "/" : workdir,
                plain);
    }

    private static StageState state(Map<String, String> environment, String user, String workdir, StageState rest) {
        return new StageState(
                environment,
                Map.of(),
                user,
                workdir,
                rest.shell(),
                rest.entrypoint(),
                rest.command(),
                rest.health(),
                rest.ports(),
                rest.labels(),
                rest.volumes(),
                rest.stopSignal());
    }

    /// Programs of an image that names no path are found all the same, and so a Dockerfile may use `$PATH`.
    private static Map<String, String> withPath(Map<String, String> environment) {
        var all = new LinkedHashMap<>(environment);
        all.putIfAbsent("PATH", SearchPath.USUAL);
        return all;
    }

    private static StageState state(ImageConfig config) {
        return new StageState(
                withPath(config.environment()),
                Map.of(),
                config.user(),
                config.workdir().isEmpty() ? "/" : config.workdir(),
                StageState.empty().shell(),
                config.entrypoint().isEmpty() ? null : config.entrypoint(),
                config.command().isEmpty() ? null : config.command(),
                health(config.healthcheck()),
                config.exposedPorts(),
                config.labels(),
                List.of(),
                null);
    }

    private static StageState.@Nullable Health health(ImageConfig.@Nullable Healthcheck check) {
        if (check == null || check.test().size() < 2) {
            return null;
        }
        var test = check.test().subList(1, check.test().size());
        var timing = new Timing(null, null, null, null, null);
        return switch (check.test().getFirst()) {
            case "CMD" -> new StageState.Health(test, timing);
            case "CMD-SHELL" -> new StageState.Health(List.of("/bin/sh", "-c", test.getFirst()), timing);
            default -> null;
        };
    }
}
