package dev.cay.server;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.NodeVolumes;
import dev.cay.wire.node.VolumeContent;
import dev.cay.wire.node.VolumeEntry;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Volumes in memory. They outlive restarts of the server, as those of a node do.
final class FakeVolumes implements NodeVolumes {
    static final long MOST = 1L << 30;

    final Map<VolumeId, Long> sizes = new ConcurrentHashMap<>();
    private final Map<VolumeId, Files> files = new ConcurrentHashMap<>();
    volatile Runnable onCreate = () -> {};
    volatile Runnable onDelete = () -> {};

    @Override
    public long mostBytes() {
        return MOST;
    }

    @Override
    public void create(VolumeId id, long bytes) {
        onCreate.run();
        sizes.put(id, bytes);
        files.computeIfAbsent(id, _ -> new Files(bytes));
    }

    @Override
    public void delete(VolumeId id) {
        onDelete.run();
        sizes.remove(id);
        files.remove(id);
    }

    @Override
    public Set<VolumeId> list() {
        return Set.copyOf(sizes.keySet());
    }

    @Override
    public Map<VolumeId, Long> used() {
        var used = new ConcurrentHashMap<VolumeId, Long>();
        files.forEach((id, all) -> used.put(id, all.held()));
        return used;
    }

    @Override
    public VolumeContent content(VolumeId id, TeamId owner) {
        var all = files.get(id);
        if (all == null) {
            throw new CayException(ErrorKind.NOT_FOUND, "volume %s is not on this machine".formatted(id));
        }
        return all;
    }

    /// @param bytes null for a directory
    private record File(byte @Nullable [] bytes, int mode, int uid, int gid) {
        VolumeEntry at(String path) {
            var type = bytes == null ? VolumeEntry.Type.DIRECTORY : VolumeEntry.Type.FILE;
            String name = path.equals("/") ? "/" : path.substring(path.lastIndexOf('/') + 1);
            var time = Instant.EPOCH;
            return new VolumeEntry(
                    name, type, path, bytes == null ? 0 : bytes.length, mode, uid, gid, time, time, time, null);
        }
    }

    private static final class Files implements VolumeContent {
        private final long most;
        private final TreeMap<String, File> all = new TreeMap<>(Map.of("/", new File(null, 0777, 0, 0)));

        private Files(long most) {
            this.most = most;
        }

        private synchronized long held() {
            return all.values().stream()
                    .mapToLong(file -> file.bytes() == null ? 0 : file.bytes().length)
                    .sum();
        }

        private File require(String path) {
            var file = all.get(path);
            if (file == null) {
                throw new CayException(ErrorKind.NOT_FOUND, "path '%s' does not exist".formatted(path));
            }
            return file;
        }

        @Override
        public synchronized VolumeEntry stat(String path) {
            return require(path).at(path);
        }

        @Override
        public synchronized List<VolumeEntry> list(String path, int depth) {
            if (require(path).bytes() != null) {
                throw new CayException(ErrorKind.INVALID_ARGUMENT, "path is not a directory: " + path);
            }
            String prefix = path.equals("/") ? "/" : path + "/";
            return all.entrySet().stream()
                    .filter(each -> each.getKey().startsWith(prefix)
                            && each.getKey().length() > prefix.length()
                            && each.getKey().substring(prefix.length()).split("/").length <= depth)
                    .map(each -> each.getValue().at(each.getKey()))
                    .toList();
        }

        private void prepare(String path, boolean force) {
            String parent = path.lastIndexOf('/') == 0 ? "/" : path.substring(0, path.lastIndexOf('/'));
            if (!all.containsKey(parent)) {
                if (!force) {
                    throw new CayException(ErrorKind.NOT_FOUND, "path '%s' does not exist".formatted(path));
                }
                prepare(parent, true);
                all.put(parent, new File(null, 0755, 0, 0));
            }
        }

        private static int or(@Nullable Integer value, int usual) {
            return Objects.requireNonNullElse(value, usual);
        }

        @Override
        public synchronized VolumeEntry makeDirectory(String path, Rights rights, boolean force) {
            var there = all.get(path);
            if (there != null) {
                if (!force || there.bytes() != null) {
                    throw new CayException(ErrorKind.ALREADY_EXISTS, "path '%s' already exists".formatted(path));
                }
                return there.at(path);
            }
            prepare(path, force);
            all.put(path, new File(null, or(rights.mode(), 0755), or(rights.uid(), 0), or(rights.gid(), 0)));
            return stat(path);
        }

        @Override
        public synchronized Content read(String path) {
            byte[] bytes = require(path).bytes();
            if (bytes == null) {
                throw new CayException(ErrorKind.INVALID_ARGUMENT, "path '%s' is a directory".formatted(path));
            }
            return new Content() {
                @Override
                public long size() {
                    return bytes.length;
                }

                @Override
                public InputStream stream() {
                    return new ByteArrayInputStream(bytes);
                }

                @Override
                public void close() {}
            };
        }

        @Override
        public VolumeEntry write(String path, Rights rights, boolean force, InputStream content) throws IOException {
            synchronized (this) {
                if (all.containsKey(path) && !force) {
                    throw new CayException(ErrorKind.ALREADY_EXISTS, "path '%s' already exists".formatted(path));
                }
                prepare(path, force);
            }
            byte[] bytes = content.readAllBytes();
            synchronized (this) {
                if (held() + bytes.length > most) {
                    throw new CayException(ErrorKind.DISK_FULL, "not enough disk space available");
                }
                var old = all.getOrDefault(path, new File(bytes, 0644, 0, 0));
                all.put(
                        path,
                        new File(
                                bytes,
                                or(rights.mode(), old.mode()),
                                or(rights.uid(), old.uid()),
                                or(rights.gid(), old.gid())));
                return stat(path);
            }
        }

        @Override
        public synchronized VolumeEntry change(String path, Rights rights) {
            var old = require(path);
            all.put(
                    path,
                    new File(
                            old.bytes(),
                            or(rights.mode(), old.mode()),
                            or(rights.uid(), old.uid()),
                            or(rights.gid(), old.gid())));
            return stat(path);
        }

        @Override
        public synchronized void remove(String path) {
            require(path);
            all.keySet().removeIf(each -> each.equals(path) || each.startsWith(path + "/"));
        }
    }
}
