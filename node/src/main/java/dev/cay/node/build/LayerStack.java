package dev.cay.node.build;

import dev.cay.node.image.ChangedFiles;
import dev.cay.node.image.LayerStore;
import dev.cay.wire.node.BuildPlan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The layers of a build so far. Each step that changes files adds one, which is found again when the same is done
/// with the same inputs.
final class LayerStack {
    /// Counts up when the same step makes something else.
    private static final String VERSION = "1";

    private final LayerBuilder layerBuilder;
    private final BuildPlan plan;
    private final BuildVoice voice;
    private final List<String> layers;

    /// Names all that was done so far.
    private String done;

    private boolean fresh;

    /// @param base the layers that the build starts from, top first
    LayerStack(LayerBuilder layerBuilder, BuildPlan plan, BuildVoice voice, List<String> base) {
        this.layerBuilder = layerBuilder;
        this.plan = plan;
        this.voice = voice;
        this.layers = new ArrayList<>(base);
        var inputs = new ArrayList<>(List.of(VERSION, plan.teamId().value()));
        inputs.addAll(base);
        this.done = LayerStore.hash(inputs);
        this.fresh = plan.force();
    }

    /// Reuses no earlier results from now on.
    void ignoreCache() {
        fresh = true;
    }

    /// Top first.
    List<String> keys() {
        return List.copyOf(layers);
    }

    List<Path> roots() {
        return layerBuilder.roots(layers);
    }

    /// Adds what a step changes, unless that was done before.
    ///
    /// @param title  for the log
    /// @param inputs all that the content depends on, beside the layers so far
    void add(String title, List<String> inputs, LayerStore.Builder content) throws IOException {
        var all = new ArrayList<>(List.of(done));
        all.addAll(inputs);
        String name = LayerStore.hash(all);
        var known = fresh ? Optional.<String>empty() : layerBuilder.cache().find(name);
        String layer = known.orElseGet(
                () -> fresh ? "step-" + LayerStore.hash(List.of(name, plan.id().value())) : StepCache.usual(name));
        voice.say(known.isPresent() ? "CACHED " + title : title);
        layerBuilder.layers().build(layer, rootfs -> {
            ChangedFiles.requireSpace(rootfs);
            content.fill(rootfs);
        });
        layerBuilder.cache().note(name, layer);
        done = layer;
        if (!isEmpty(layerBuilder.layers().require(layer))) {
            layers.addFirst(layer);
        }
    }

    private static boolean isEmpty(Path layer) throws IOException {
        try (var entries = Files.list(layer)) {
            return entries.findAny().isEmpty();
        }
    }
}
