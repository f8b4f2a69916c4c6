package dev.cay.node.host;

import dev.cay.node.host.HostLedger.Book;
import dev.cay.node.host.HostLedger.Setting;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Kernel settings that hundreds of sandboxes need, raised and never lowered. No other class of Cay writes them.
///
/// They belong to the host, which may run several Cays: the original values are in the {@link HostLedger}, written
/// first, and the last Cay that leaves restores them, also after a crash.
public final class Sysctls {
    private static final Logger log = LoggerFactory.getLogger(Sysctls.class);
    private static final String FORWARDING = "net/ipv4/ip_forward";

    /// The wanted values. At the defaults, one sandbox can use up what all need. Names have slashes, because an
    /// interface's name may contain a dot.
    private static final Map<String, Long> WANTED = wanted();

    /// For counters of the whole host whose memory is charged to the sandbox. Its memory limit stops it; with a lower
    /// counter one sandbox could block all others.
    private static final long BOUND_BY_MEMORY = 1L << 30;

    /// A changed setting.
    ///
    /// @param name like `kernel.pid_max`
    public record Change(String name, String before, String after) {}

    private final HostLedger ledger;
    private final Path root;

    public Sysctls(HostLedger ledger) {
        this(ledger, Path.of("/proc/sys"));
    }

    Sysctls(HostLedger ledger, Path root) {
        this.ledger = ledger;
        this.root = root;
    }

    /// Raises settings that are too low. Skips settings that this kernel lacks, or does not let Cay change. The
    /// instance must have joined the ledger.
    ///
    /// @return the changes, for the operator to read
    public List<Change> apply() {
        return raise(WANTED);
    }

    /// Turns packet forwarding on if it is off: other programs turn it off, and without it no sandbox reaches anything.
    public void forward() {
        if (read(FORWARDING).filter("1"::equals).isPresent()) {
            return;
        }
        raise(Map.of(FORWARDING, 1L));
        if (read(FORWARDING).filter("1"::equals).isEmpty()) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE, "cannot turn on packet forwarding; run: sysctl -w net.ipv4.ip_forward=1");
        }
    }

    /// Raises settings. The ledger is written before the first change, so after a crash every change is on record.
    private List<Change> raise(Map<String, Long> wanted) {
        var changes = new ArrayList<Change>();
        ledger.change(book -> {
            wanted.forEach((path, value) -> read(path).ifPresent(before -> {
                if (isLower(before, value)) {
                    var known = book.settings().get(path);
                    book.settings().put(path, new Setting(known == null ? before : known.original(), value.toString()));
                    changes.add(new Change(path.replace('/', '.'), before, value.toString()));
                }
            }));
            return changes;
        });
        if (changes.isEmpty()) {
            return List.of();
        }
        // Under the lock again: the last of the others may just be leaving.
        return ledger.change(book -> {
            changes.removeIf(change -> {
                String path = change.name().replace('.', '/');
                book.settings().putIfAbsent(path, new Setting(change.before(), change.after()));
                return !write(path, change.after());
            });
            return List.copyOf(changes);
        });
    }

    /// Removes the instance. If it was the last, restores all original values, except those that another program has
    /// changed since.
    public List<Change> leave(String instance) {
        return ledger.change(book -> {
            book.instances().remove(instance);
            return book.instances().isEmpty() ? putBack(book) : List.<Change>of();
        });
    }

    private List<Change> putBack(Book book) {
        var changes = new ArrayList<Change>();
        book.settings().forEach((path, known) -> {
            boolean untouched = read(path).filter(known.ours()::equals).isPresent();
            if (untouched && write(path, known.original())) {
                changes.add(new Change(path.replace('/', '.'), known.ours(), known.original()));
            }
        });
        book.settings().clear();
        return List.copyOf(changes);
    }

    private static Map<String, Long> wanted() {
        var wanted = new LinkedHashMap<String, Long>();
        wanted.put(FORWARDING, 1L);
        wanted.put("fs/inotify/max_user_instances", 1_048_576L);
        wanted.put("fs/inotify/max_user_watches", BOUND_BY_MEMORY);
        // All sandboxes' watchers share one queue: a busy sandbox must not fill it for the others.
        wanted.put("fs/inotify/max_queued_events", 262_144L);
        wanted.put("kernel/pid_max", 4_194_304L);
        wanted.put("fs/file-max", BOUND_BY_MEMORY);
        wanted.put("kernel/pty/max", 262_144L);
        // Largest first: no order is required, but a full table in between would drop packets.
        wanted.put("net/ipv4/neigh/default/gc_thresh3", 65_536L);
        wanted.put("net/ipv4/neigh/default/gc_thresh2", 32_768L);
        wanted.put("net/ipv4/neigh/default/gc_thresh1", 8_192L);
        wanted.put("net/netfilter/nf_conntrack_max", 1_048_576L);
        return wanted;
    }

    private static boolean isLower(String before, long wanted) {
        try {
            return Long.parseLong(before) < wanted;
        } catch (NumberFormatException _) {
            return false;
        }
    }

    private Optional<String> read(String path) {
        // Read at once, because these files have no size and answer only from their start.
        try (var in = Files.newInputStream(root.resolve(path))) {
            return Optional.of(new String(in.readNBytes(4096), StandardCharsets.US_ASCII).strip());
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    private boolean write(String path, String value) {
        try {
            Files.writeString(root.resolve(path), value);
            return true;
        } catch (IOException e) {
            log.atWarn().addKeyValue("setting", path).setCause(e).log("kernel setting could not be changed");
            return false;
        }
    }
}
