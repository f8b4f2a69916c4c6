package dev.cay.node.image;

import dev.cay.node.host.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Puts Node and npm into a tree, under `/usr/local`. Both come as npm packages from the registry that the host uses,
/// and npm verifies them.
///
/// On a host without npm this uses Debian's, in a temporary tree: slower by minutes, but it needs only the mirrors that
/// apt needs anyway.
final class NodeJs {
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final Path BUNDLE = Path.of("/etc/ssl/certs/ca-certificates.crt");

    private final Programs programs;
    private final Recipe recipe;
    private final List<String> sources;

    /// @param sources where Debian comes from, empty for mmdebstrap's own choice
    NodeJs(Programs programs, Recipe recipe, List<String> sources) {
        this.programs = programs;
        this.recipe = recipe;
        this.sources = sources;
    }

    void install(Path rootfs, Path work, BuildLog log) throws IOException {
        String architecture = HostArchitecture.name();
        var node = new Fetched("node-linux-" + architecture, recipe.version("node"));
        var npm = new Fetched("npm", recipe.version("npm"));
        boolean hasNpm = BuildTools.hasNpm(programs);
        var command = hasNpm ? fetch(work, node, npm) : borrow(work, node, npm);
        require(command, log);

        var local = rootfs.resolve("usr/local");
        var modules = Files.createDirectories(local.resolve("lib/node_modules/npm"));
        var licence = Files.createDirectories(local.resolve("share/doc/node"));
        // Without the C headers: 67 MB, and builds of native modules download their own.
        unpack(work.resolve(node.file()), local, List.of("package/bin"), log);
        unpack(work.resolve(node.file()), licence, List.of("package/LICENSE"), log);
        unpack(work.resolve(npm.file()), modules, List.of("package"), log);
        for (String name : List.of("npm", "npx")) {
            Files.createSymbolicLink(
                    local.resolve("bin").resolve(name), Path.of("../lib/node_modules/npm/bin/" + name + "-cli.js"));
        }
    }

    /// Adds the recipe's modules.
    ///
    /// @param tools tree that has npm
    void addModules(Path tools, Path rootfs, BuildLog log) {
        if (recipe.modules().isEmpty()) {
            return;
        }
        var arguments = new ArrayList<>(
                List.of("--global", "--prefix", rootfs.resolve("usr/local").toString()));
        arguments.addAll(recipe.modules());
        require(NpmCommand.of(tools, "install", arguments), log);
    }

    private record Fetched(String name, String version) {
        String spec() {
            return name + "@" + version;
        }

        String file() {
            return name + "-" + version + ".tgz";
        }
    }

    private static List<String> fetch(Path work, Fetched node, Fetched npm) {
        return List.of("npm", "pack", "--silent", "--pack-destination", work.toString(), node.spec(), npm.spec());
    }

    /// The operator's registry and certificates are lent to the tree, and go with it.
    private List<String> borrow(Path work, Fetched node, Fetched npm) {
        var command = new ArrayList<>(List.of(
                "mmdebstrap", "--mode=root", "--variant=apt", "--format=null", "--include=npm,ca-certificates"));
        lend(BUNDLE, BUNDLE.toString(), command);
        lend(Path.of(System.getProperty("user.home"), ".npmrc"), "/root/.npmrc", command);
        command.add("--customize-hook=chroot \"$1\" sh -c 'cd /root && HOME=/root npm pack --silent %s %s'"
                .formatted(node.spec(), npm.spec()));
        for (var each : List.of(node, npm)) {
            command.add("--customize-hook=download /root/%s %s".formatted(each.file(), work.resolve(each.file())));
        }
        command.add(recipe.version("suite"));
        command.add("-");
        command.addAll(sources);
        return command;
    }

    private static void lend(Path file, String inside, List<String> command) {
        if (Files.isReadable(file)) {
            command.add("--customize-hook=upload %s %s".formatted(file, inside));
        }
    }

    private void unpack(Path archive, Path target, List<String> members, BuildLog log) {
        var command = new ArrayList<>(List.of(
                "tar", "-xzf", archive.toString(), "-C", target.toString(), "--strip-components=1", "--no-same-owner"));
        command.addAll(members);
        require(command, log);
    }

    /// Node brings certificates of its own, and an operator's registry may be signed with another.
    static Map<String, String> environment() {
        boolean needed = System.getenv("NODE_EXTRA_CA_CERTS") == null && Files.isReadable(BUNDLE);
        return needed ? Map.of("NODE_EXTRA_CA_CERTS", BUNDLE.toString()) : Map.of();
    }

    private void require(List<String> command, BuildLog log) {
        follow(programs, LIMIT, command, "add Node", log);
    }

    /// Runs npm, or what runs it.
    ///
    /// @param what could not be done when it fails
    static void follow(Programs programs, Duration limit, List<String> command, String what, BuildLog log) {
        var complaint = new StringBuilder();
        int exit = programs.follow(limit, environment(), command, line -> {
            log.line(line);
            if (isComplaint(line) && complaint.isEmpty()) {
                complaint.append(line);
            }
        });
        if (exit != 0) {
            throw log.failed(what, complaint.toString(), BuildLog.REACH);
        }
    }

    /// The first line of an npm that fails is but a code.
    static boolean isComplaint(String line) {
        return line.startsWith("E:") || (line.startsWith("npm error") && !line.startsWith("npm error code "));
    }
}
