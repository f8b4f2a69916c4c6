package dev.cay.node.runtime;

import dev.cay.node.host.Slot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The two processes of `cay-guest fill` that bring the memory of one container in, seen from the node. They outlive
/// the daemon, and are in a cgroup of their own, by which the next daemon finds them.
final class Filler {
    static final Path DEVICE = Path.of("/dev/userfaultfd");
    private static final Duration START_LIMIT = Duration.ofSeconds(30);
    private static final Duration END_LIMIT = Duration.ofSeconds(10);

    /// Memory for lists of pages and for parts of page files, and more processes than the two for when one is replaced.
    private static final GroupLimits LIMITS = new GroupLimits(2, 512, 16);

    /// What `report` of `guest/src/fill.h` looks like.
    private static final int VERSION = 1;

    private static final int STAGE = 4;
    private static final int HOLDER = 16;
    private static final int FILLER = 20;
    private static final int PAGES = 24;
    private static final int COPIED = 32;
    private static final int REASON = 64;
    private static final int REASON_LENGTH = 200;
    private static final int LENGTH = REASON + REASON_LENGTH;
    private static final int STAGE_DONE = 4;
    private static final int STAGE_LOST = 5;

    private final Cgroups cgroups;
    private final String group;
    private final Bundle bundle;

    /// @param group the cgroup for its processes
    Filler(Cgroups cgroups, String group, Bundle bundle) {
        this.cgroups = cgroups;
        this.group = group;
        this.bundle = bundle;
    }

    /// Starts the processes. They wait for CRIU, for some minutes at most.
    ///
    /// @param first list of pages to bring in first; null for none
    void start(GuestProgram guest, ContainerSpec spec, Path images, @Nullable Path first, FillSettings settings) {
        cgroups.make(group, LIMITS);
        var words = new ArrayList<>(List.of(guest.path().toString(), "fill"));
        words.addAll(List.of("--images", images.toString()));
        words.addAll(List.of("--work", bundle.criuWork().toString()));
        words.addAll(List.of("--report", bundle.fillReport().toString()));
        words.addAll(List.of("--touched", bundle.touched().toString()));
        long last = Integer.toUnsignedLong(spec.slot().uidBase()) + Slot.UIDS - 1;
        words.addAll(List.of("--uid", Long.toString(last)));
        words.addAll(List.of("--rest", Long.toString(settings.rest().toNanos() / 1000)));
        if (first != null) {
            words.addAll(List.of("--first", first.toString()));
        }
        words.add("--");
        cgroups.entrances(group).forEach(file -> words.add(file.toString()));
        new Command("starting the sandbox's filler", words, START_LIMIT).run();
    }

    Fill fill() {
        Fill before = read();
        if (!before.isUnderWay() || runs() || !cgroups.members(group).isEmpty()) {
            return before;
        }
        // They may have ended between the two looks because everything is in.
        Fill after = read();
        return after.isUnderWay() ? lost(after, "both of its fillers ended") : after;
    }

    /// Whether the report names a process that is in the group. Costs less than a look into the group.
    private boolean runs() {
        try {
            byte[] bytes = Files.readAllBytes(bundle.fillReport());
            if (bytes.length < LENGTH) {
                return false;
            }
            var report = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
            return isMember(report.getInt(HOLDER)) || isMember(report.getInt(FILLER));
        } catch (IOException gone) {
            return false;
        }
    }

    private boolean isMember(int pid) {
        try {
            return Files.readAllLines(Path.of("/proc", Integer.toString(pid), "cgroup")).stream()
                    .anyMatch(line -> line.endsWith(":" + group));
        } catch (IOException gone) {
            return false;
        }
    }

    private static Fill lost(Fill fill, String reason) {
        return new Fill(Fill.Stage.LOST, fill.copied(), fill.pages(), reason, fill.touched());
    }

    private Fill read() {
        try {
            byte[] bytes = Files.readAllBytes(bundle.fillReport());
            if (bytes.length < LENGTH) {
                return made(Fill.Stage.UNDER_WAY, 0, 0, "");
            }
            var report = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
            if (report.getInt(0) != VERSION) {
                throw new CayException(ErrorKind.UNAVAILABLE, "another version of Cay fills the sandbox's memory");
            }
            var stage = switch (report.getInt(STAGE)) {
                case STAGE_DONE -> Fill.Stage.DONE;
                case STAGE_LOST -> Fill.Stage.LOST;
                default -> Fill.Stage.UNDER_WAY;
            };
            String reason = new String(bytes, REASON, REASON_LENGTH, StandardCharsets.UTF_8);
            return made(
                    stage, report.getLong(COPIED), report.getLong(PAGES), reason.substring(0, reason.indexOf('\0')));
        } catch (NoSuchFileException e) {
            return made(Fill.Stage.NONE, 0, 0, "");
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "cannot read " + bundle.fillReport(), e);
        }
    }

    private Fill made(Fill.Stage stage, long copied, long pages, String reason) {
        return new Fill(stage, copied, pages, reason, bundle.touched());
    }

    /// Ends the processes. Who waits for a page of the container goes on with zeros, so the container must have ended.
    void end() {
        if (cgroups.exists(group)) {
            cgroups.kill(group, END_LIMIT);
            cgroups.remove(group, END_LIMIT);
        }
    }
}
