package dev.cay.node.files;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.ArrayList;
import java.util.List;

/// An absolute path inside a sandbox, without `.`, `..` and doubled slashes.
public record SandboxPath(String text) {
    private static final int MAX_LENGTH = 4095;

    public SandboxPath {
        if (!text.startsWith("/") || text.length() > MAX_LENGTH || text.indexOf('\0') >= 0) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "invalid path '%s'".formatted(text));
        }
    }

    /// Resolves a client's path: empty is the default directory, `~` and relative ones start at the user's home.
    public static SandboxPath resolve(String path, Account user, String defaultDirectory) {
        if (path.isEmpty()) {
            return of(defaultDirectory);
        }
        if (path.equals("~") || path.startsWith("~/")) {
            return of(user.home() + path.substring(1));
        }
        if (path.startsWith("~")) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "cannot expand user-specific home directory in '%s'".formatted(path));
        }
        return of(path.startsWith("/") ? path : user.home() + "/" + path);
    }

    static SandboxPath of(String absolute) {
        var parts = new ArrayList<String>();
        for (String part : absolute.split("/")) {
            switch (part) {
                case "", "." -> {}
                case ".." -> {
                    if (!parts.isEmpty()) {
                        parts.removeLast();
                    }
                }
                default -> parts.add(part);
            }
        }
        return new SandboxPath("/" + String.join("/", parts));
    }

    boolean isRoot() {
        return text.equals("/");
    }

    /// The last part; `/` for the root.
    public String name() {
        return isRoot() ? "/" : text.substring(text.lastIndexOf('/') + 1);
    }

    SandboxPath parent() {
        int slash = text.lastIndexOf('/');
        return new SandboxPath(slash <= 0 ? "/" : text.substring(0, slash));
    }

    public SandboxPath child(String name) {
        return new SandboxPath(isRoot() ? "/" + name : text + "/" + name);
    }

    List<String> parts() {
        return isRoot() ? List.of() : List.of(text.substring(1).split("/"));
    }

    @Override
    public String toString() {
        return text;
    }
}
