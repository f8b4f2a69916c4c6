package dev.cay.node.files;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A file, directory or link as a list shows it.
///
/// @param type          of a link's target; OTHER when it does not exist
/// @param size          of the link itself, for a link
/// @param mode          permission bits, of the target for a link
/// @param permissions   like `-rw-r--r--`, `drwxr-xr-x`, `Lrwxrwxrwx`
/// @param symlinkTarget the final target of a link, or its own path when it does not exist
public record Entry(
        SandboxPath path,
        Type type,
        long size,
        int mode,
        String permissions,
        String owner,
        String group,
        Instant modified,
        @Nullable String symlinkTarget,
        Map<String, String> metadata) {
    public enum Type {
        FILE,
        DIRECTORY,
        OTHER
    }

    /// The mode in Go's notation, which clients know: kind, then set-id and sticky bits, then nine permissions.
    static String permissions(int mode) {
        int kind = mode & 0xf000;
        var text = new StringBuilder(
                switch (kind) {
                    case 0x4000 -> "d";
                    case 0xa000 -> "L";
                    case 0x1000 -> "p";
                    case 0xc000 -> "S";
                    case 0x2000, 0x6000 -> "D";
                    default -> "";
                });
        text.append((mode & 04000) != 0 ? "u" : "").append((mode & 02000) != 0 ? "g" : "");
        text.append(kind == 0x2000 ? "c" : "").append((mode & 01000) != 0 ? "t" : "");
        if (text.isEmpty()) {
            text.append('-');
        }
        for (int bit = 8; bit >= 0; bit--) {
            text.append((mode >> bit & 1) != 0 ? "xwr".charAt(bit % 3) : '-');
        }
        return text.toString();
    }
}
