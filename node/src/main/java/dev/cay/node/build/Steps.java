package dev.cay.node.build;

import dev.cay.node.guest.Exit;
import dev.cay.node.host.Programs;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.oci.LayerMerge;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.BuildPlan;
import dev.cay.wire.node.BuildPlan.Step;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Does the steps of one build, one after the other.
final class Steps {
    private static final Duration LIMIT = Duration.ofHours(1);

    /// Counts up when the same step makes something else.
    private static final String VERSION = "1";

    /// What stays free for all else that is on the disk of layers.
    private static final long RESERVE = 1L << 30;

    private static final Pattern GLOB = Pattern.compile("[*?\\[{]");

    private static final Pattern MODE = Pattern.compile("[0-7]{3,4}");
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    /// Where layers are made and kept.
    record Workshop(BuildRooms rooms, LayerStore layers, StepCache cache, Uploads uploads, Programs programs) {
        /// What a sandbox mounts beside the node's own layer. Each one more makes every look-up of a file slower.
        private static final int MOST_LAYERS = 39;

        /// The same content in few enough layers.
        List<String> mountable(List<String> keys) {
            return new LayerMerge(layers).atMost(MOST_LAYERS, keys);
        }
    }

    private final Workshop workshop;
    private final BuildPlan plan;
    private final BuildVoice voice;
    private final List<String> layers;
    private BuildState state;

    /// Names all that was done so far.
    private String done;

    private boolean anew;

    /// @param base what the build begins with, top first
    Steps(Workshop workshop, BuildPlan plan, BuildVoice voice, List<String> base, BuildState state) {
        this.workshop = workshop;
        this.plan = plan;
        this.voice = voice;
        this.layers = new ArrayList<>(base);
        this.state = state;
        var inputs = new ArrayList<>(List.of(VERSION, plan.teamId().value()));
        inputs.addAll(base);
        this.done = LayerStore.hash(inputs);
        this.anew = plan.force();
    }

    /// Content keys, top first, as a sandbox mounts them.
    List<String> layers() {
        return workshop.mountable(layers);
    }

    BuildState state() {
        return state;
    }

    /// @param number counted from 1
    void run(int number, Step step) throws IOException {
        voice.at(
                Integer.toString(number),
                "[builder %d/%d]".formatted(number, plan.steps().size()));
        anew |= step.force();
        switch (step.type()) {
            case "ENV", "ARG" -> {
                voice.say("%s %s".formatted(step.type(), String.join(" ", step.args())));
                requirePairs(step);
                state = state.with(step.args());
            }
            case "RUN" -> change(step, room -> command(room, step));
            case "WORKDIR" -> {
                String path = state.resolve(argument(step, 0, "a path"));
                change(step, room -> root(room, null, Scripts.command(Scripts.WORKDIR, path, owner())));
                state = state.in(path);
            }
            case "USER" -> {
                String name = argument(step, 0, "a user's name");
                String sudo = step.args().size() > 1 ? step.args().get(1) : "";
                change(step, room -> root(room, null, Scripts.command(Scripts.USER, name, sudo)));
                state = state.asUser(name);
            }
            case "COPY", "ADD" -> change(step, room -> copy(room, step));
            default ->
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT,
                        "a step of type '%s' is not known; there are RUN, COPY, ADD, ENV, ARG, WORKDIR and USER"
                                .formatted(step.type()));
        }
    }

    private interface Work {
        Exit run(BuildRoom room) throws IOException;
    }

    /// Does something that changes files, unless that was done before.
    private void change(Step step, Work work) throws IOException {
        String title = "%s %s".formatted(step.type(), String.join(" ", step.args()));
        String name = LayerStore.hash(List.of(
                done,
                step.type(),
                String.join("\0", step.args()),
                step.filesHash() == null ? "" : step.filesHash(),
                state.text()));
        var known = anew ? Optional.<String>empty() : workshop.cache().find(name);
        String layer = known.orElseGet(
                () -> anew ? "step-" + LayerStore.hash(List.of(name, plan.id().value())) : StepCache.usual(name));
        voice.say(known.isPresent() ? "CACHED " + title : title);
        workshop.layers().build(layer, rootfs -> fill(rootfs, work));
        workshop.cache().note(name, layer);
        done = layer;
        if (!isEmpty(workshop.layers().require(layer))) {
            layers.addFirst(layer);
        }
    }

    private void fill(Path rootfs, Work work) throws IOException {
        long free = rootfs.toFile().getUsableSpace();
        if (free < RESERVE) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "this machine has no room for another layer: %d MB are left where layers lie; let the operator make room"
                            .formatted(free >> 20));
        }
        try (var room = workshop.rooms().open(plan.templateId(), workshop.mountable(layers), plan.resources())) {
            requireSuccess(work.run(room), voice);
            ChangedFiles.copy(workshop.programs(), room.stop(), rootfs);
        }
    }

    static void requireSuccess(Exit exit, BuildVoice voice) {
        if (!exit.success()) {
            String last = voice.lastError();
            throw new CayException(
                    ErrorKind.FAILED,
                    "it failed with %s%s".formatted(exit.status(), last.isEmpty() ? "" : ": " + last));
        }
    }

    private Exit command(BuildRoom room, Step step) throws IOException {
        String user = step.args().size() > 1 ? step.args().get(1) : null;
        var command = ShellCommand.of(argument(step, 0, "a command"), state, user);
        return room.run(command, null, voice, LIMIT);
    }

    private Exit copy(BuildRoom room, Step step) throws IOException {
        String hash = step.filesHash();
        if (hash == null) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "a copy needs 'filesHash', the hash of its files");
        }
        if (!workshop.uploads().has(plan.teamId(), hash)) {
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
                destination(room, argument(step, 1, "a destination")),
                owner.isEmpty() ? owner() : owner.contains(":") ? owner : owner + ":" + owner,
                mode);
        try (var archive = workshop.uploads().open(plan.teamId(), hash)) {
            return root(room, archive, command);
        }
    }

    /// The directories before the first part that stands for several names.
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

    private String destination(BuildRoom room, String path) throws IOException {
        if (path.startsWith("/")) {
            return path;
        }
        String from = state.workdir();
        if (from == null) {
            from = room.files()
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

    private Exit root(BuildRoom room, @Nullable InputStream input, List<String> words) throws IOException {
        return room.run(new BuildRoom.Command(words, "root", "/", Map.of()), input, voice, LIMIT);
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

    private static boolean isEmpty(Path layer) throws IOException {
        try (var entries = Files.list(layer)) {
            return entries.findAny().isEmpty();
        }
    }
}
