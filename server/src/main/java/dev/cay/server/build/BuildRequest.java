package dev.cay.server.build;

import dev.cay.server.request.RequestBody;
import dev.cay.server.template.BuildTag;
import dev.cay.server.template.TemplateName;
import dev.cay.wire.node.Resources;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/// The request for a new build, before its steps: a name, tags and sizes.
///
/// @param text the name as the client wrote it
record BuildRequest(String text, TemplateName name, List<String> tags, Resources resources) {
    private static final int LEAST_MEMORY_MB = 128;
    private static final int LONGEST_NAME = 128;

    BuildRequest {
        tags = List.copyOf(tags);
    }

    /// Defaults and limits of sizes.
    ///
    /// @param mostMemoryMB most memory of a sandbox on this machine
    /// @param mostDiskMB   size of the pool, which the disks of all sandboxes share
    record Rules(Resources usual, int mostMemoryMB, IntSupplier mostDiskMB) {}

    static BuildRequest read(RequestBody body, Rules rules) {
        String text = first(body.text("name"), body.text("alias"));
        if (text == null) {
            throw RequestBody.invalid("Name is required");
        }
        if (text.length() > LONGEST_NAME) {
            throw RequestBody.invalid("'name' is longer than %d characters".formatted(LONGEST_NAME));
        }
        var name = TemplateName.parse(text);
        var tags = new LinkedHashSet<String>();
        if (name.tag() != null || text.indexOf(':') >= 0) {
            tags.add(name.tagOrDefault());
        }
        body.texts("tags").forEach(tag -> tags.add(tag(tag)));
        if (tags.isEmpty()) {
            tags.add(BuildTag.DEFAULT);
        }
        return new BuildRequest(text, name, new ArrayList<>(tags), resources(body, rules));
    }

    /// A tag by itself.
    static String tag(String text) {
        String tag = TemplateName.parse("x:" + text.strip()).tagOrDefault();
        return tag;
    }

    private static @Nullable String first(@Nullable String name, @Nullable String alias) {
        return name != null && !name.isBlank() ? name : alias != null && !alias.isBlank() ? alias : null;
    }

    private static Resources resources(RequestBody body, Rules rules) {
        Integer cpus = body.integer("cpuCount");
        if (cpus != null && (cpus < 1 || cpus > BuildService.MOST_CPUS || (cpus > 1 && cpus % 2 != 0))) {
            throw RequestBody.invalid(
                    "'cpuCount' must be 1 or an even number up to %d".formatted(BuildService.MOST_CPUS));
        }
        Integer memory = body.integer("memoryMB");
        if (memory != null && (memory < LEAST_MEMORY_MB || memory % 2 != 0)) {
            throw RequestBody.invalid("'memoryMB' must be an even number of at least %d".formatted(LEAST_MEMORY_MB));
        }
        if (memory != null && memory > rules.mostMemoryMB()) {
            throw RequestBody.invalid("'memoryMB' may be at most %d on this machine".formatted(rules.mostMemoryMB()));
        }
        Integer free = body.integer("minFreeDiskMb");
        if (free != null && free < 0) {
            throw RequestBody.invalid("'minFreeDiskMb' must not be negative");
        }
        if (free != null && free > rules.mostDiskMB().getAsInt()) {
            throw RequestBody.invalid(
                    "'minFreeDiskMb' may be at most %d on this machine, the size of the pool that has the disks of all sandboxes; the operator can enlarge it with `cay pool grow`"
                            .formatted(rules.mostDiskMB().getAsInt()));
        }
        // Layers do not count for the disk of a sandbox, so all of it is free after the steps.
        return new Resources(
                        cpus == null ? rules.usual().cpuCount() : cpus,
                        memory == null ? rules.usual().memoryMB() : memory,
                        rules.usual().diskSizeMB())
                .withDiskOfAtLeast(free == null ? 0 : free);
    }
}
