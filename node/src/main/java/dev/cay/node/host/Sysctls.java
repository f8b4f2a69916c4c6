package dev.cay.node.host;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/// Kernel settings that hundreds of sandboxes need, raised and never lowered.
///
/// What a setting was before is written to a file first, so that {@link #restore} can put it back even after a crash.
public final class Sysctls {
    private static final Logger log = LoggerFactory.getLogger(Sysctls.class);
    private static final JsonMapper json = new JsonMapper();

    /// These are the host's, not a sandbox's: without room, one sandbox uses up what all need. Names with their
    /// slashes, as an interface's name may hold a dot.
    private static final Map<String, Long> WANTED = wanted();

    /// Counters of the whole host for things whose memory is charged to the sandbox that has them. Its memory limit
    /// stops it; at a lower number of all one sandbox could stop everybody.
    private static final long BOUND_BY_MEMORY = 1L << 30;

    /// One setting we changed.
    ///
    /// @param name like `kernel.pid_max`
    public record Change(String name, String before, String after) {}

    /// @param original what it was when we first came
    private record Memory(String original, String ours) {}

    private final Path memory;
    private final Path root;

    /// @param memory where the values of before are remembered, a file in the state directory
    public Sysctls(Path memory) {
        this(memory, Path.of("/proc/sys"));
    }

    Sysctls(Path memory, Path root) {
        this.memory = memory;
        this.root = root;
    }

    /// Raises what is too low. Settings this kernel does not have, or does not let us change, are skipped.
    ///
    /// @return what was changed, for the operator to read
    public List<Change> apply() {
        var changes = new ArrayList<Change>();
        var remembered = remembered();
        WANTED.forEach((path, value) -> read(path).ifPresent(before -> {
            if (isLower(before, value)) {
                var known = remembered.get(path);
                remembered.put(path, new Memory(known == null ? before : known.original, value.toString()));
                changes.add(new Change(path.replace('/', '.'), before, value.toString()));
            }
        }));
        if (!changes.isEmpty()) {
            remember(remembered);
        }
        changes.removeIf(change -> !write(change.name().replace('.', '/'), change.after()));
        return List.copyOf(changes);
    }

    /// Puts back what we changed, unless somebody else has changed it since.
    public List<Change> restore() {
        var changes = new ArrayList<Change>();
        remembered().forEach((path, known) -> {
            boolean untouched = read(path).filter(known.ours::equals).isPresent();
            if (untouched && write(path, known.original)) {
                changes.add(new Change(path.replace('/', '.'), known.ours, known.original));
            }
        });
        try {
            Files.deleteIfExists(memory);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot delete " + memory, e);
        }
        return List.copyOf(changes);
    }

    private static Map<String, Long> wanted() {
        var wanted = new LinkedHashMap<String, Long>();
        wanted.put("net/ipv4/ip_forward", 1L);
        wanted.put("fs/inotify/max_user_instances", 65_536L);
        wanted.put("fs/inotify/max_user_watches", BOUND_BY_MEMORY);
        wanted.put("kernel/pid_max", 4_194_304L);
        wanted.put("fs/aio-max-nr", 1_048_576L);
        wanted.put("fs/file-max", BOUND_BY_MEMORY);
        wanted.put("kernel/pty/max", 262_144L);
        // Largest first: the kernel wants the three in order at no time, but a full table in between would hurt.
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
        // In one read: these files have no size and answer only from their beginning.
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

    private Map<String, Memory> remembered() {
        if (!Files.exists(memory)) {
            return new LinkedHashMap<>();
        }
        try {
            return json.readValue(memory.toFile(), new TypeReference<LinkedHashMap<String, Memory>>() {});
        } catch (JacksonException e) {
            throw new CayException(
                    ErrorKind.INTERNAL, "cannot read %s; delete it to forget what was".formatted(memory), e);
        }
    }

    private void remember(Map<String, Memory> values) {
        var fresh = memory.resolveSibling(memory.getFileName() + ".new");
        try {
            Files.writeString(fresh, json.writerWithDefaultPrettyPrinter().writeValueAsString(values));
            Files.move(fresh, memory, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot write " + memory, e);
        }
    }
}
