package dev.cay.node.build;

import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;

/// The `PATH` of build steps.
final class SearchPath {
    static final String USUAL = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

    private SearchPath() {}

    /// A user's path, followed by the usual directories: without these no step would find its shell's programs.
    static String complete(String chosen) {
        var all = new LinkedHashSet<>(List.of(chosen.split(":")));
        all.addAll(Arrays.asList(USUAL.split(":")));
        return String.join(":", all);
    }
}
