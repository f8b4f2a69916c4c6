package dev.cay.node.build;

import dev.cay.life.Steps;
import dev.cay.node.guest.Exit;
import dev.cay.node.host.Programs;
import dev.cay.node.image.ChangedFiles;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.oci.LayerMerge;
import dev.cay.web.WebFiles;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.BuildPlan;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Makes layers by running work in sandboxes, and keeps them.
///
/// @param web downloads files that Dockerfiles name by URLs
record LayerBuilder(
        BuildSandboxHost sandboxes,
        LayerStore layers,
        StepCache cache,
        Uploads uploads,
        Programs programs,
        WebFiles web) {
    /// Most layers that a sandbox mounts beside the node's own layer and the two of an interpreter on demand. Each
    /// further layer makes every file lookup slower.
    private static final int MOST_LAYERS = 37;

    /// Something that changes the files of a sandbox.
    interface Work {
        Exit run(BuildSandbox sandbox) throws IOException;
    }

    /// The layers of a build's base, top first. Copies the files of a saved sandbox into a layer.
    List<String> layers(BuildPlan.Base.Layers base) {
        String snapshot = base.snapshot();
        if (snapshot == null) {
            base.layers().forEach(layers::require);
            return base.layers();
        }
        var saved = sandboxes.requireSaved(snapshot);
        saved.layers().forEach(layers::require);
        String key = "saved-" + LayerStore.hash(List.of(snapshot, saved.at().toString()));
        layers.build(key, rootfs -> {
            ChangedFiles.requireSpace(rootfs);
            ChangedFiles.copy(programs, saved.changed(), rootfs);
        });
        var all = new ArrayList<>(List.of(key));
        all.addAll(saved.layers());
        return all;
    }

    /// The same content in few enough layers.
    List<String> mountable(List<String> keys) {
        return new LayerMerge(layers).atMost(MOST_LAYERS, keys);
    }

    List<Path> roots(List<String> keys) {
        return keys.stream().map(layers::require).toList();
    }

    /// Works in a sandbox of these layers, and copies what changed there into a layer.
    ///
    /// @param keys   top first
    /// @param rootfs the new layer
    void change(BuildPlan plan, List<String> keys, BuildVoice voice, Path rootfs, Work work) throws IOException {
        try (var sandbox = sandboxes.open(plan.templateId(), mountable(keys), plan.resources())) {
            var exit = work.run(sandbox);
            if (!exit.success()) {
                String last = voice.lastError();
                throw new CayException(
                        ErrorKind.FAILED,
                        "it failed with %s%s".formatted(exit.status(), last.isEmpty() ? "" : ": " + last));
            }
            Steps.reach("step-ran");
            ChangedFiles.copy(programs, sandbox.stop(), rootfs);
        }
    }
}
