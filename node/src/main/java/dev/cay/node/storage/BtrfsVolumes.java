package dev.cay.node.storage;

import dev.cay.node.runtime.Command;
import dev.cay.node.runtime.GuestProgram;
import java.nio.file.Path;
import java.time.Duration;

/// Subvolumes with quota groups, one run of `cay-guest` per change.
final class BtrfsVolumes implements Volumes {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final String guest;

    BtrfsVolumes(GuestProgram guest) {
        this.guest = guest.path().toString();
    }

    @Override
    public boolean limited() {
        return true;
    }

    @Override
    public void create(Path volume, long limit) {
        String bytes = Long.toString(limit);
        new Command("making the sandbox's disk", LIMIT, guest, "volume", "create", volume.toString(), bytes).run();
    }

    @Override
    public void copy(Path from, Path to, long limit) {
        String bytes = Long.toString(limit);
        new Command("copying the sandbox's disk", LIMIT, guest, "volume", "copy", from.toString(), to.toString(), bytes)
                .run();
    }

    @Override
    public void delete(Path volume) {
        new Command("deleting the sandbox's disk", LIMIT, guest, "volume", "delete", volume.toString()).run();
    }

    @Override
    public long used(Path volume) {
        String answer =
                new Command("reading the sandbox's disk use", LIMIT, guest, "volume", "used", volume.toString()).run();
        return Long.parseLong(answer.strip());
    }
}
