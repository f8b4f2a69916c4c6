package dev.cay.node.build;

import dev.cay.node.guest.Exit;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.BuildPlan;
import dev.cay.wire.node.BuildPlan.Step;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Does the steps of one build, one after the other.
final class Steps {
    private static final Duration LIMIT = Duration.ofHours(1);

    private static final Pattern GLOB = Pattern.compile("[*?\\[{]");

    private static final Pattern MODE = Pattern.compile("[0-7]{3,4}");
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    private final LayerBuilder layerBuilder;
    private final BuildPlan plan;
    private final BuildVoice voice;
    private final LayerStack layers;
    private BuildState state;

    /// @param base the layers that the build starts from, top first
    Steps(LayerBuilder layerBuilder, BuildPlan plan, BuildVoice voice, List<String> base, BuildState state) {
        this.layerBuilder = layerBuilder;
        this.plan = plan;
        this.voice = voice;
        this.layers = new LayerStack(layerBuilder, plan, voice, base);
        this.state = state;
    }

    /// Content keys, top first, as a sandbox mounts them.
    List<String> layers() {
        return layerBuilder.mountable(layers.keys());
    }

    BuildState state() {
        return state;
    }

    /// @param number counted from 1
    void run(int number, Step step) throws IOException {
        voice.at(
                Integer.toString(number),
                "[builder %d/%d]".formatted(number, plan.steps().size()));
        if (step.force()) {
            layers.ignoreCache();
        }
        switch (step.type()) {
            case "ENV", "ARG" -> {
                voice.say("%s %s".formatted(step.type(), String.join(" ", step.args())));
                requirePairs(step);
                state = state.with(step.args());
            }
            case "RUN" -> change(step, sandbox -> command(sandbox, step));
            case "WORKDIR" -> {
                String path = state.resolve(argument(step, 0, "a path"));
                change(step, sandbox -> root(sandbox, null, Scripts.command(Scripts.WORKDIR, path, owner())));
                state = state.in(path);
            }
            case "USER" -> {
                String name = argument(step, 0, "a user's name");
                String sudo = step.args().size() > 1 ? step.args().get(1) : "";
                change(step, sandbox -> root(sandbox, null, Scripts.command(Scripts.USER, name, sudo)));
                state = state.asUser(name);
            }
            case "COPY", "ADD" -> change(step, sandbox -> copy(sandbox, step));
            default ->
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT,
                        "a step of type '%s' is not known; there are RUN, COPY, ADD, ENV, ARG, WORKDIR and USER"
                                .formatted(step.type()));
        }
    }

    private void change(Step step, LayerBuilder.Work work) throws IOException {
        String arguments = String.join(" ", step.args());
        String hash = step.filesHash() == null ? "" : step.filesHash();
        var inputs = List.of(step.type(), String.join("\0", step.args()), hash, state.text());
        layers.add(
                "%s %s".formatted(step.type(), arguments),
                inputs,
                rootfs -> layerBuilder.change(plan, layers.keys(), voice, rootfs, work));
    }

    private Exit command(BuildSandbox sandbox, Step step) throws IOException {
        String user = step.args().size() > 1 ? step.args().get(1) : null;
        var command = ShellCommand.of(argument(step, 0, "a command"), state, user);
        return sandbox.run(command, null, voice, LIMIT);
    }

    private Exit copy(BuildSandbox sandbox, Step step) throws IOException {
        String hash = step.filesHash();
        if (hash == null) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "a copy needs 'filesHash', the hash of its files");
        }
        if (!layerBuilder.uploads().has(plan.teamId(), hash)) {
            throw new CayException(ErrorKind.FAILED, "its files were not sent; build again, and the client sends them");
        }
        String owner = step.args().size() > 2 ? step.args().get(2) : "";
        String mode = step.args().size() > 3 ? step.args().get(3) : "";
        if (!mode.isEmpty() && !MODE.matcher(mode).matches()) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "'%s' is no mode like 0644".formatted(mode));
        }
        var command = Scripts.command(
                Scripts.COPY,
                fixedPart(argument(step, 0, "a source")),
                destination(sandbox, argument(step, 1, "a destination")),
                owner.isEmpty() ? owner() : owner.contains(":") ? owner : owner + ":" + owner,
                mode);
        try (var archive = layerBuilder.uploads().open(plan.teamId(), hash)) {
            return root(sandbox, archive, command);
        }
    }

    /// The directories before the first part with a wildcard.
    private static String fixedPart(String source) {
        var parts = new ArrayList<String>();
        for (String part : source.split("/")) {
            if (GLOB.matcher(part).find()) {
                break;
            }
            if (part.equals("..")) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT, "the source '%s' leads out of the files".formatted(source));
            }
            if (!part.isEmpty() && !part.equals(".")) {
                parts.add(part);
            }
        }
        return String.join("/", parts);
    }

    private String destination(BuildSandbox sandbox, String path) throws IOException {
        if (path.startsWith("/")) {
            return path;
        }
        String from = state.workdir();
        if (from == null) {
            from = sandbox.files()
                    .findAccount(state.user())
                    .map(account -> account.home())
                    .orElse("/");
        }
        String rest = path.equals(".") || path.equals("./") ? "" : path.startsWith("./") ? path.substring(2) : path;
        return (from.endsWith("/") ? from : from + "/") + rest;
    }

    private String owner() {
        return state.user() + ":" + state.user();
    }

    private Exit root(BuildSandbox sandbox, @Nullable InputStream input, List<String> words) throws IOException {
        return sandbox.run(new BuildSandbox.Command(words, "root", "/", Map.of()), input, voice, LIMIT);
    }

    private static String argument(Step step, int index, String what) {
        if (step.args().size() <= index || step.args().get(index).isEmpty()) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "%s needs %s as argument %d".formatted(step.type(), what, index + 1));
        }
        return step.args().get(index);
    }

    private static void requirePairs(Step step) {
        boolean good = step.args().size() % 2 == 0;
        for (int i = 0; good && i < step.args().size(); i += 2) {
            good = NAME.matcher(step.args().get(i)).matches();
        }
        if (!good) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "%s needs names and values in turn; a name has letters, digits and '_'".formatted(step.type()));
        }
    }
}
