package dev.cay.node.fuse;

import dev.cay.node.host.Programs;
import dev.cay.node.host.Slot;
import dev.cay.node.runtime.Container;
import dev.cay.node.runtime.FuseMount;
import dev.cay.node.runtime.GuestProgram;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TemplateId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// Mounts FUSE for sandboxes, by a program that enters their namespaces. Thread-safe.
public final class FuseMounter {
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final String SAID_BY = "cay-guest: ";

    /// A setting with which host processes that have CAP_SYS_ADMIN could enter file systems of sandboxes.
    private static final Path ADMIN_ACCESS = Path.of("/sys/module/fuse/parameters/allow_sys_admin_access");

    /// A setting with which a sandbox process that waits for its own FUSE server would stop the machine.
    private static final Path PANIC = Path.of("/proc/sys/kernel/hung_task_panic");

    private final Set<TemplateId> templates;
    private final GuestProgram guest;

    /// @param templates templates whose sandboxes may mount FUSE
    public FuseMounter(Set<TemplateId> templates, GuestProgram guest) {
        this.templates = Set.copyOf(templates);
        this.guest = guest;
    }

    public boolean allows(TemplateId template) {
        return templates.contains(template);
    }

    /// @param asker the program inside that gets the connection
    void mount(Container container, Slot slot, FuseAsker asker, FusePlace place, FuseOptions options) {
        requireSetting(ADMIN_ACCESS, "N", "the module option allow_sys_admin_access of fuse");
        requireSetting(PANIC, "0", "the kernel setting kernel.hung_task_panic");
        var words = words("mount", container, slot, asker, place);
        words.addAll(List.of("--attributes", options.attributes()));
        for (String option : options.kernel()) {
            words.addAll(List.of("--option", option));
        }
        run(words);
    }

    /// @param lazy whether it ends at once, even if it is in use
    void unmount(Container container, Slot slot, FuseAsker asker, FuseMount mount, boolean lazy) {
        var words = words("unmount", container, slot, asker, new FusePlace(mount.path()));
        words.addAll(List.of("--owner", Integer.toString(mount.user()), "--lazy", lazy ? "yes" : "no"));
        try {
            run(words);
        } catch (CayException e) {
            // The kernel may be writing what the server does not take.
            if (e.kind() == ErrorKind.DEADLINE_EXCEEDED) {
                mount.end();
            }
            throw e;
        }
    }

    private List<String> words(String what, Container container, Slot slot, FuseAsker asker, FusePlace place) {
        return new ArrayList<>(List.of(
                guest.path().toString(),
                "fuse",
                what,
                "--pid",
                Integer.toString(container.pid()),
                "--uid-base",
                Integer.toUnsignedString(slot.uidBase()),
                "--name",
                asker.name(),
                "--user",
                Long.toString(asker.user()),
                "--path",
                place.path()));
    }

    private static void run(List<String> words) {
        var result = Programs.ofHost().run(LIMIT, "", words);
        if (!result.ok()) {
            String said = result.output().strip();
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, said.startsWith(SAID_BY) ? said.substring(SAID_BY.length()) : said);
        }
    }

    private static void requireSetting(Path file, String value, String what) {
        try {
            if (!Files.readString(file).strip().equals(value)) {
                throw new CayException(
                        ErrorKind.FAILED,
                        "FUSE in sandboxes is refused on this machine: %s is not %s, with which a sandbox could hold up the machine"
                                .formatted(what, value));
            }
        } catch (NoSuchFileException _) {
            // A kernel without it does not do it.
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot read " + file, e);
        }
    }
}
