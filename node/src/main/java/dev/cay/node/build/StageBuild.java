package dev.cay.node.build;

import dev.cay.dockerfile.CommandLine;
import dev.cay.dockerfile.DockerfileException;
import dev.cay.dockerfile.Evaluation.Step;
import dev.cay.dockerfile.Instruction.Add;
import dev.cay.dockerfile.Instruction.Copy;
import dev.cay.dockerfile.Instruction.InlineFile;
import dev.cay.dockerfile.Instruction.Run;
import dev.cay.dockerfile.Instruction.Source;
import dev.cay.dockerfile.Instruction.Transfer;
import dev.cay.dockerfile.Instruction.Workdir;
import dev.cay.dockerfile.Mount;
import dev.cay.dockerfile.Position;
import dev.cay.dockerfile.StageState;
import dev.cay.node.build.LayerOwners.Owner;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.LayerView;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.BuildPlan;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Builds one stage of a Dockerfile: each instruction that changes files makes a layer.
final class StageBuild {
    private static final Duration LIMIT = Duration.ofHours(1);
    private static final String SCRIPT = "/.cay-run";

    /// The texts by which log lines name a stage.
    ///
    /// @param file   name of the Dockerfile
    /// @param label  of the stage
    /// @param text   of the whole Dockerfile
    /// @param before the number of instructions of earlier stages
    record Texts(String file, String label, String text, int before) {
        private static final int LONGEST = 200;

        /// The instruction as it is written, in one line.
        String title(Position at) {
            var title = new StringBuilder();
            for (String line : text.lines().skip(at.line() - 1L).toList()) {
                boolean more = line.stripTrailing().endsWith("\\");
                String part = line.strip();
                title.append(title.isEmpty() ? "" : " ")
                        .append(more ? part.substring(0, part.length() - 1).strip() : part);
                if (!more || title.length() > LONGEST) {
                    break;
                }
            }
            return title.length() > LONGEST ? title.substring(0, LONGEST) + "…" : title.toString();
        }
    }

    private final LayerBuilder layerBuilder;
    private final BuildPlan plan;
    private final BuildVoice voice;
    private final Texts texts;
    private final FileSources sources;
    private final Function<String, List<String>> origins;
    private final Map<String, String> proxies;
    private final LayerStack layers;

    /// @param origins layers of what instructions name by `--from`, top first
    /// @param proxies variables of every RUN that do not count for its result
    /// @param base    the layers below, top first
    StageBuild(
            LayerBuilder layerBuilder,
            BuildPlan plan,
            BuildVoice voice,
            Texts texts,
            FileSources sources,
            Function<String, List<String>> origins,
            Map<String, String> proxies,
            List<String> base) {
        this.layerBuilder = layerBuilder;
        this.plan = plan;
        this.voice = voice;
        this.texts = texts;
        this.sources = sources;
        this.origins = origins;
        this.proxies = proxies;
        this.layers = new LayerStack(layerBuilder, plan, voice, base);
    }

    /// @param state what a stage without instructions has
    BuiltStage run(List<Step> steps, StageState state) throws IOException {
        int number = 0;
        var last = state;
        for (var step : steps) {
            number++;
            voice.at(
                    Integer.toString(texts.before() + number),
                    "[%s %d/%d]".formatted(texts.label(), number, steps.size()));
            run(step);
            last = step.after();
        }
        return new BuiltStage(layers.keys(), last);
    }

    private void run(Step step) throws IOException {
        var at = step.instruction().at();
        String title = texts.title(at);
        try {
            switch (step.instruction()) {
                case Run run -> run(run, step.before(), title);
                case Copy copy -> {
                    String from = copy.from();
                    var taken = take(copy.transfer(), from == null ? null : origins.apply(from), at);
                    copy(copy.transfer(), taken, from == null, title);
                }
                case Add add -> add(add, title);
                case Workdir workdir -> workdir(workdir.path(), step.before().user(), title);
                default -> voice.say(title);
            }
        } catch (DockerfileException e) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, String.valueOf(e.getMessage()), e);
        } catch (CayException e) {
            throw e.kind() == ErrorKind.CANCELED
                    ? e
                    : new CayException(
                            e.kind(), "%s:%d: %s: %s".formatted(texts.file(), at.line(), title, e.userMessage()), e);
        }
    }

    private void workdir(String path, String user, String title) throws IOException {
        layers.add(title, List.of("WORKDIR", path, user), rootfs -> {
            var owner = owners().find(user);
            new FilePlacement(layers.roots(), path, owner, null).makeDirectory(rootfs);
        });
    }

    private void add(Add add, String title) throws IOException {
        var transfer = add.transfer();
        var taken = transfer.sources().isEmpty()
                ? FileSources.Taken.NOTHING
                : sources.take(transfer, add.checksum(), texts.file(), add.at());
        boolean unpack = !Boolean.FALSE.equals(add.unpack());
        copy(transfer, unpack ? sources.unpack(taken, Boolean.TRUE.equals(add.unpack())) : taken, true, title);
    }

    /// @param local whether the files are not of a stage or an image
    private void copy(Transfer transfer, FileSources.Taken files, boolean local, String title) throws IOException {
        var inputs = new ArrayList<>(List.of(
                "COPY",
                files.hash(),
                transfer.destination(),
                String.valueOf(transfer.owner()),
                String.valueOf(transfer.mode()),
                Boolean.toString(local)));
        transfer.files().forEach(file -> inputs.addAll(List.of(file.name(), file.content())));
        layers.add(title, inputs, rootfs -> {
            var owner = transfer.owner() == null ? null : owners().find(transfer.owner());
            new FilePlacement(layers.roots(), transfer.destination(), owner, transfer.mode())
                    .write(rootfs, files.files(), transfer.files());
        });
    }

    /// @param image layers of where files come from; null for the build context
    private FileSources.Taken take(Transfer transfer, @Nullable List<String> image, Position at) throws IOException {
        if (transfer.sources().isEmpty()) {
            return FileSources.Taken.NOTHING;
        }
        return image == null ? sources.take(transfer, null, texts.file(), at) : sources.take(image, transfer);
    }

    private LayerOwners owners() {
        return new LayerOwners(new LayerView(layers.roots()));
    }

    private void run(Run run, StageState state, String title) throws IOException {
        var additions = new ArrayList<Addition>();
        for (var mount : run.mounts()) {
            additions.add(addition(mount, run.at()));
        }
        var words = new ArrayList<String>();
        switch (run.command()) {
            case CommandLine.Exec(var arguments) -> words.addAll(arguments);
            case CommandLine.Shell(String text) -> {
                words.addAll(state.shell());
                words.add(text);
            }
            case CommandLine.Script(String content) -> {
                words.add(SCRIPT);
                var file = new InlineFile(SCRIPT.substring(1), content, false);
                additions.add(new Addition(
                        SCRIPT,
                        content,
                        (below, rootfs) -> new FilePlacement(below, SCRIPT, Owner.ROOT, "755")
                                .write(rootfs, List.of(), List.of(file))));
            }
        }
        var inputs = new ArrayList<>(List.of("RUN", state.user(), state.workdir()));
        inputs.addAll(words);
        new TreeMap<>(state.runEnvironment()).forEach((name, value) -> inputs.add(name + "=" + value));
        additions.forEach(each -> inputs.addAll(List.of(each.path(), each.hash())));
        var environment = new LinkedHashMap<>(proxies);
        environment.putAll(state.runEnvironment());
        String user = state.user().isEmpty() ? "0" : state.user();
        var command = new BuildSandbox.Command(words, user, state.workdir(), environment);
        layers.add(title, inputs, rootfs -> run(command, additions, rootfs));
    }

    private void run(BuildSandbox.Command command, List<Addition> additions, Path rootfs) throws IOException {
        var keys = new ArrayList<>(layers.keys());
        for (var each : additions) {
            var below = layerBuilder.roots(keys);
            String content = LayerStore.hash(List.of(each.path(), each.hash(), String.join(" ", keys)));
            keys.addFirst(
                    sources.temporary("mount", content, layer -> each.content().fill(below, layer)));
        }
        layerBuilder.change(plan, keys, voice, rootfs, sandbox -> sandbox.run(command, null, voice, LIMIT));
        var all = new ArrayList<>(List.of(rootfs));
        all.addAll(layers.roots());
        for (var each : additions) {
            ExcludedPath.remove(
                    layerBuilder.programs(),
                    rootfs,
                    new LayerView(all).find(each.path()).path());
        }
    }

    /// Files for one RUN only: a layer on top, of which the result keeps nothing.
    private record Addition(String path, String hash, Content content) {
        private interface Content {
            /// @param below roots of the layers below, top first
            void fill(List<Path> below, Path rootfs) throws IOException;
        }
    }

    private Addition addition(Mount mount, Position at) throws IOException {
        return switch (mount) {
            case Mount.Bind bind -> bind(bind, at);
            case Mount.Cache cache ->
                directory(
                        cache.target(),
                        new Owner(cache.owner().uid(), cache.owner().gid()));
            case Mount.Tmpfs tmpfs -> directory(tmpfs.target(), Owner.ROOT);
            // A required secret is refused before anything runs.
            case Mount.Secret secret -> new Addition("/run/secrets/" + secret.id(), "", (_, _) -> {});
        };
    }

    private static Addition directory(String path, Owner owner) {
        return new Addition(
                path,
                owner.toString(),
                (below, rootfs) -> new FilePlacement(below, path, owner, null).makeDirectory(rootfs));
    }

    private Addition bind(Mount.Bind bind, Position at) throws IOException {
        String from = bind.from();
        String source = bind.source().isEmpty() ? "." : bind.source();
        var transfer = new Transfer(
                List.of(new Source(at, source)), List.of(), bind.target(), null, null, List.of(), false, false);
        var taken = take(transfer, from == null ? null : origins.apply(from), at);
        return new Addition(
                bind.target(),
                taken.hash(),
                (below, rootfs) ->
                        new FilePlacement(below, bind.target(), null, null).write(rootfs, taken.files(), List.of()));
    }
}
