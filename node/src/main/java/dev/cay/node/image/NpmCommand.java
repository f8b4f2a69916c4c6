package dev.cay.node.image;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The npm of a tree, run as a program of the host, so that it uses the host's registry, proxy and certificates.
///
/// It runs no scripts of packages, because these would run on the host, and fetches from the registry alone: a package
/// can name git repositories, addresses and files of the host as well.
final class NpmCommand {
    private static final List<String> RULES = List.of(
            "--ignore-scripts",
            "--allow-git=none",
            "--git=/bin/false",
            "--allow-remote=none",
            "--allow-file=none",
            "--allow-directory=none",
            "--no-audit",
            "--no-fund",
            "--no-update-notifier");

    private NpmCommand() {}

    /// @param tree that has Node and npm
    /// @param verb what npm shall do
    static List<String> of(Path tree, String verb, List<String> arguments) {
        var local = tree.resolve("usr/local");
        var words = new ArrayList<>(List.of(
                local.resolve("bin/node").toString(),
                local.resolve("lib/node_modules/npm/bin/npm-cli.js").toString(),
                verb));
        words.addAll(RULES);
        words.addAll(arguments);
        return words;
    }
}
