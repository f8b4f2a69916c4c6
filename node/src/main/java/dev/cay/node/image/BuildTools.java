package dev.cay.node.image;

import dev.cay.node.host.Programs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/// The host programs that building the base template needs.
public final class BuildTools {
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final Path KEYRING = Path.of("/usr/share/keyrings/debian-archive-keyring.gpg");

    private BuildTools() {}

    /// The missing programs, each with its Debian package; empty when all exist. npm is not among them: without it the
    /// build takes some minutes longer, see {@link #hasNpm}.
    public static Map<String, String> missing(Programs programs) {
        var missing = new LinkedHashMap<String, String>();
        for (var tool : Map.of("mmdebstrap", "mmdebstrap", "apt-get", "apt", "tar", "tar")
                .entrySet()) {
            if (!programs.run(LIMIT, tool.getKey(), "--version").ok()) {
                missing.put(tool.getKey(), tool.getValue());
            }
        }
        if (!Files.isReadable(KEYRING)) {
            missing.put("Debian's keyring", "debian-archive-keyring");
        }
        return missing;
    }

    /// Whether the host has npm. Without it the build uses Debian's, which temporarily installs some hundred packages.
    public static boolean hasNpm(Programs programs) {
        return programs.run(LIMIT, "npm", "--version").ok();
    }

    /// The command that brings what {@link #missing} found.
    public static String fix(Map<String, String> missing) {
        return "apt-get install -y " + String.join(" ", missing.values());
    }
}
