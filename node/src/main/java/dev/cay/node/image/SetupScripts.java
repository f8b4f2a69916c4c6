package dev.cay.node.image;

import dev.cay.node.host.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// Runs the scripts of a recipe on the host. Each is given the tree, and a directory with the recipe's other files.
final class SetupScripts {
    private static final Map<String, String> ENVIRONMENT = Map.of("DEBIAN_FRONTEND", "noninteractive");

    private SetupScripts() {}

    /// @param work an empty directory that the caller removes
    static void run(Recipe recipe, Path rootfs, Path work, Programs programs, Duration limit, BuildLog log)
            throws IOException {
        for (var extra : recipe.extras().entrySet()) {
            Files.writeString(work.resolve(extra.getKey()), extra.getValue());
        }
        for (String text : recipe.setups()) {
            var setup = Files.writeString(work.resolve("setup.sh"), text);
            var command = List.of("sh", setup.toString(), rootfs.toString(), work.toString());
            log.follow(programs, limit, ENVIRONMENT, command, "set up");
        }
    }
}
