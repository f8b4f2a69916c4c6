package dev.cay.prove.fuzz;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.cay.node.linux.Attributes;
import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.EntryCalls;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FileCalls;
import dev.cay.node.linux.FileStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/// A directory that layers are unpacked into, with layers below and a secret beside it. Only the first may change.
final class Enclosure {
    private static final String SECRET = "never to be read, nor to be linked to";
    private static final String OPAQUE = "trusted.overlay.opaque";
    private static final int FLAGS = FileCalls.READ | FileCalls.DIRECTORY;
    private static final int MOST_CONTENT = 64 << 10;

    /// Null, zero, full, random, urandom, tty, and the mark by which overlayfs hides a file.
    private static final Set<String> DEVICES = Set.of("1:3", "1:5", "1:7", "1:8", "1:9", "5:0", "0:0");

    private final Path outside;
    private final List<Path> below;
    private final Path rootfs;
    private final Path around;
    private final TreeState before;

    Enclosure(Path directory) throws IOException {
        around = Files.createDirectories(directory.resolve("around"));
        outside = Files.createDirectories(around.resolve("outside"));
        Files.writeString(outside.resolve("secret"), SECRET);
        below = List.of(layer("upper"), layer("below"));
        rootfs = directory.resolve("rootfs");
        before = TreeState.of(around);
    }

    private Path layer(String name) throws IOException {
        Path layer = Files.createDirectories(around.resolve(name));
        for (String each : List.of("old", "dir/sub", "hidden", "opaque")) {
            Files.createDirectories(layer.resolve(each));
        }
        for (String each : List.of("old/file", "hidden/file", "opaque/file", "dir/b", "a")) {
            Files.writeString(layer.resolve(each), name);
        }
        Files.createSymbolicLink(layer.resolve("up"), Path.of("../.."));
        Files.createSymbolicLink(layer.resolve("out"), outside);
        Files.createSymbolicLink(layer.resolve("in"), Path.of("/dir/sub"));
        if (name.equals("upper")) {
            try (var open = FileCalls.open(layer.toString(), FLAGS, 0)) {
                EntryCalls.makeWhiteout(open, "gone");
                Attributes.write(open, "opaque", OPAQUE, new byte[] {'y'});
            }
        } else {
            Files.writeString(layer.resolve("gone"), name);
        }
        return layer;
    }

    Path outside() {
        return outside;
    }

    /// The topmost first.
    List<Path> below() {
        return below;
    }

    /// Where an input is unpacked to. Empty at the begin of each play.
    Path rootfs() throws IOException {
        return Files.createDirectories(rootfs);
    }

    /// Looks at all that is there, removes what was unpacked, and says what must not be; empty for nothing.
    String inspect() throws IOException {
        String wrong = before.difference(TreeState.of(around));
        Path parent = rootfs.resolveSibling(".");
        try (var directory = FileCalls.open(parent.toString(), FLAGS, 0)) {
            var names = FileCalls.names(directory, 10);
            if (wrong.isEmpty() && !Set.of("around", "rootfs").containsAll(names)) {
                wrong = "made something beside the layer: " + names;
            }
            if (names.contains("rootfs")) {
                String inside = remove(directory, "rootfs", 0);
                wrong = wrong.isEmpty() ? inside : wrong;
            }
        }
        return wrong;
    }

    private static String remove(Descriptor parent, String name, int depth) throws ErrnoException {
        String wrong = "";
        try (var directory = FileCalls.openEntry(parent, name, FLAGS, false)) {
            for (var some = FileCalls.nextNames(directory); !some.isEmpty(); some = FileCalls.nextNames(directory)) {
                for (String each : some) {
                    var status = FileCalls.stat(directory, each);
                    String found = wrong(directory, each, status);
                    if (status.directory()) {
                        String inside = remove(directory, each, depth + 1);
                        found = found.isEmpty() ? inside : found;
                    } else {
                        FileCalls.removeFile(directory, each);
                    }
                    wrong = wrong.isEmpty() ? found : wrong;
                }
            }
        }
        FileCalls.removeDirectory(parent, name);
        return wrong;
    }

    private static String wrong(Descriptor directory, String name, FileStatus status) throws ErrnoException {
        if (status.type() == EntryCalls.BLOCK_DEVICE
                || (status.type() == EntryCalls.CHARACTER_DEVICE
                        && !DEVICES.contains(status.major() + ":" + status.minor()))) {
            return "made the device %d:%d".formatted(status.major(), status.minor());
        }
        if (status.uid() > 65_535 || status.gid() > 65_535) {
            return "gave a file to user %d".formatted(status.uid());
        }
        if (status.symlink()) {
            return "";
        }
        for (String attribute : Attributes.names(directory, name)) {
            boolean opaque = attribute.equals(OPAQUE) && status.directory();
            boolean harmless = attribute.startsWith("user.") && !attribute.startsWith("user.overlay.");
            if (!opaque && !harmless && !attribute.equals("security.capability")) {
                return "set the attribute " + attribute;
            }
        }
        return status.regular() && content(directory, name).contains(SECRET) ? "has what is outside" : "";
    }

    private static String content(Descriptor directory, String name) throws ErrnoException {
        byte[] bytes = new byte[MOST_CONTENT];
        try (var file = FileCalls.openEntry(directory, name, FileCalls.READ | FileCalls.NONBLOCK, false)) {
            return new String(bytes, 0, Math.max(0, DescriptorIo.pread(file, bytes, 0, MOST_CONTENT, 0)), ISO_8859_1);
        }
    }

    /// What a load must not leave in its cache.
    void requireNothingUnfinished(Path cache) throws IOException {
        for (Path place : List.of(cache.resolve("layers"), cache.resolve("images/staging"))) {
            if (!Files.isDirectory(place)) {
                continue;
            }
            try (var all = Files.newDirectoryStream(place, "{.unfinished-*,pull-*,.*.progress}")) {
                for (Path left : all) {
                    throw new IllegalStateException("a load left " + left.getFileName());
                }
            }
        }
    }
}
