package dev.cay.node.fuse;

import dev.cay.node.files.Account;
import dev.cay.node.files.FileTree;
import dev.cay.node.files.SandboxPath;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Installs the files in a sandbox that FUSE programs look for. Root inside may have put anything at these places, and
/// then only harms itself.
public final class FuseFiles {
    private static final Logger log = LoggerFactory.getLogger(FuseFiles.class);
    private static final int MOST = 1 << 20;
    private static final List<String> PROGRAMS = List.of("/usr/bin/fusermount3", "/usr/bin/fusermount");
    private static final String SCRIPT = "#!/bin/sh\nexec /run/.cay-guest fusermount \"$@\"\n";

    /// libfuse fails if it cannot open this file. It closes it when the mount itself is refused, and then calls
    /// `fusermount3`; the device itself is not available inside.
    private static final String DEVICE = "/dev/fuse";

    /// dpkg's list of diverted files: a package with its own `fusermount3` must not replace Cay's. dpkg compares paths
    /// as packages have them, and `/bin` is the same directory as `/usr/bin`.
    private static final String DIVERSIONS = "/var/lib/dpkg/diversions";

    private static final List<String> DIVERTED =
            List.of("/usr/bin/fusermount3", "/usr/bin/fusermount", "/bin/fusermount3", "/bin/fusermount");

    private FuseFiles() {}

    /// Writes the files that are missing.
    public static void bring(FileTree files) {
        try {
            for (String program : PROGRAMS) {
                write(files, program, SCRIPT, 0755);
            }
            write(files, DEVICE, "", 0666);
            divert(files);
        } catch (IOException | CayException e) {
            log.atWarn().setCause(e).log("cannot install fusermount3 in a sandbox");
        }
    }

    private static void divert(FileTree files) throws IOException {
        String before = text(files, DIVERSIONS);
        if (before == null) {
            return;
        }
        var known = before.lines().toList();
        String more = DIVERTED.stream()
                .filter(program -> !known.contains(program))
                .map(program -> "%s\n%s.distrib\n:\n".formatted(program, program))
                .collect(Collectors.joining());
        write(files, DIVERSIONS, before + more, 0644);
    }

    private static void write(FileTree files, String file, String content, int mode) throws IOException {
        if (content.equals(text(files, file))) {
            return;
        }
        try (var open = files.write(new SandboxPath(file), Account.ROOT, Map.of())) {
            open.write(content.getBytes(StandardCharsets.ISO_8859_1));
            open.setMode(mode);
        }
    }

    /// The content of a file; null if it does not exist.
    private static @Nullable String text(FileTree files, String file) {
        try (var open = files.read(new SandboxPath(file));
                var content = open.stream(0, Math.min(open.size(), MOST))) {
            return new String(content.readAllBytes(), StandardCharsets.ISO_8859_1);
        } catch (IOException | CayException _) {
            return null;
        }
    }
}
