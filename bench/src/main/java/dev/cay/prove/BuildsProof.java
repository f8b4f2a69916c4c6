package dev.cay.prove;

import java.util.Map;

/// Builds of templates that something ends in the middle: each ends in a known state, leaves nothing, and succeeds when
/// it is tried again.
final class BuildsProof implements Proof {
    @Override
    public String name() {
        return "builds";
    }

    @Override
    public String promise() {
        return "kill -9 of the daemon, of the sandbox of a step and of the registry, and full disks, at every step of"
                + " builds of templates: the build goes on or fails with a clear reason, a retry succeeds, other"
                + " sandboxes do not notice, and nothing is left";
    }

    @Override
    public Verdict run(Stage stage) throws Exception {
        try (var cache = new BuildCache();
                var cases = new BuildCases(stage, cache)) {
            var cay = stage.cay(
                    Map.of(
                            "sandboxes.spares",
                            "0",
                            "storage.poolSizeMB",
                            "3GB",
                            "sandboxes.diskSizeMB",
                            "8GB",
                            "images.registries",
                            cases.registry(),
                            "java.opts",
                            FaultAgent.option()),
                    cache.section());
            try {
                return cases.play(cay);
            } finally {
                // Its layers must not be in use when their file system goes.
                stage.endDaemons();
            }
        }
    }
}
