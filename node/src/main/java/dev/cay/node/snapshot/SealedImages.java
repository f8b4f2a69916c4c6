package dev.cay.node.snapshot;

import dev.cay.life.Trees;
import dev.cay.life.Undo;
import dev.cay.node.host.Mounts;
import dev.cay.node.host.Programs;
import dev.cay.node.host.Slot;
import dev.cay.node.linux.HostThreads;
import dev.cay.node.storage.Pool;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Saved memory that contains credentials, encrypted on the disk with keys that exist only in this daemon's memory.
/// Nobody can decrypt what an earlier daemon left. Thread-safe for different ids.
///
/// CRIU reads and writes plain files, so they are plain during the call: in memory, on a tmpfs of their own, which is
/// unmounted afterwards.
public final class SealedImages {
    private static final Logger log = LoggerFactory.getLogger(SealedImages.class);
    private static final Duration MOUNT_LIMIT = Duration.ofSeconds(20);
    private static final Duration COPY_LIMIT = Duration.ofMinutes(1);

    /// Most bytes of one image, because it needs that much of the machine's memory a second time.
    private static final long MOST = 1L << 30;

    /// Space for CRIU's files other than pages.
    private static final long MARGIN = 64L << 20;

    private static final Set<PosixFilePermission> FOR_ROOT_ALONE = PosixFilePermissions.fromString("rwx------");

    private final Pool pool;
    private final Path sealed;
    private final Path plain;
    private final HostThreads work;
    private final SecureRandom random = new SecureRandom();
    private final Map<SandboxId, ChunkCipher> ciphers = new ConcurrentHashMap<>();

    /// @param plain directory for mounts; every user must be able to pass through its parents
    /// @param work  threads for files
    public SealedImages(Pool pool, Path plain, HostThreads work) {
        this.pool = pool;
        this.sealed = pool.directory("sealed");
        this.plain = plain;
        this.work = work;
    }

    /// Removes what an earlier daemon left, before anything is sealed. The directory itself stays: on a full disk
    /// nobody can make it again, and a daemon has to start there.
    public void clear() {
        Mounts.unmountBelow(plain);
        try {
            Trees.delete(plain);
            if (!Files.getPosixFilePermissions(sealed).equals(FOR_ROOT_ALONE)) {
                Files.setPosixFilePermissions(sealed, FOR_ROOT_ALONE);
            }
            try (var left = Files.list(sealed)) {
                for (Path image : left.toList()) {
                    Trees.delete(image);
                }
            }
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "memory that an earlier Cay has sealed cannot be removed", e);
        }
    }

    /// Encrypts the files that a writer makes.
    ///
    /// @param slot   whose users may read them too, as CRIU does
    /// @param memory approximate size
    /// @param writer gets an empty directory
    public void seal(SandboxId id, Slot slot, long memory, Consumer<Path> writer) {
        if (memory > MOST) {
            throw new CayException(
                    ErrorKind.EXHAUSTED,
                    "it uses %d MB of memory, and %d MB are kept at most".formatted(memory >> 20, MOST >> 20));
        }
        try (var _ = pool.room(memory);
                var undo = new Undo()) {
            Path images = mount(undo, id, slot);
            writer.accept(images);
            var cipher = new ChunkCipher(random);
            try {
                work.call(COPY_LIMIT, () -> pack(images, file(id), cipher));
            } catch (IOException e) {
                delete(id);
                throw new CayException(ErrorKind.INTERNAL, "memory cannot be sealed: " + e.getMessage(), e);
            }
            ciphers.put(id, cipher);
        }
    }

    /// Decrypts the files for the time of a call, and deletes them afterwards, whatever the result.
    public <T> T open(SandboxId id, Slot slot, Function<Path, T> reader) {
        var cipher = ciphers.remove(id);
        if (cipher == null) {
            throw new CayException(ErrorKind.NOT_FOUND, "nothing is sealed of sandbox %s".formatted(id));
        }
        try (var undo = new Undo()) {
            undo.step(() -> delete(id));
            Path images = mount(undo, id, slot);
            try {
                work.call(COPY_LIMIT, () -> unpack(file(id), images, cipher));
            } catch (IOException e) {
                throw new CayException(ErrorKind.NOT_RESTORED, "memory cannot be opened: " + e.getMessage(), e);
            }
            return reader.apply(images);
        }
    }

    /// Unknown ids are fine.
    public void delete(SandboxId id) {
        ciphers.remove(id);
        try {
            Files.deleteIfExists(file(id));
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot delete what is sealed of sandbox " + id, e);
        }
    }

    private Path file(SandboxId id) {
        return sealed.resolve(id.value());
    }

    /// Mounts a tmpfs. CRIU makes files that every user may read, and also opens them as the sandbox's root; other
    /// users cannot enter the directory.
    private Path mount(Undo undo, SandboxId id, Slot slot) {
        Path place = plain.resolve(id.value());
        try {
            Files.createDirectories(place);
            Files.setPosixFilePermissions(plain, PosixFilePermissions.fromString("rwx--x--x"));
            undo.step(() -> Files.deleteIfExists(place));
            String options = "nosuid,nodev,noexec,mode=0500,uid=%s,size=%d"
                    .formatted(Integer.toUnsignedString(slot.uidBase()), MOST + MARGIN);
            // Kernels before 6.4 cannot keep it from being swapped out, as all memory of sandboxes may be there.
            if (!mounts(place, options + ",noswap") && !mounts(place, options)) {
                throw new CayException(ErrorKind.INTERNAL, "there is no place in memory to save it");
            }
            undo.step(() -> Programs.ofHost().require(MOUNT_LIMIT, "umount", "--lazy", place.toString()));
            Path images = Files.createDirectory(place.resolve("images"));
            // A sandbox that just starts may see the mount, and then keeps only an empty one.
            undo.step(() -> Trees.delete(images));
            return images;
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "there is no place in memory to save it", e);
        }
    }

    private static boolean mounts(Path place, String options) {
        var mounted =
                Programs.ofHost().run(MOUNT_LIMIT, "mount", "-t", "tmpfs", "-o", options, "tmpfs", place.toString());
        if (!mounted.ok()) {
            log.atDebug().addKeyValue("reason", mounted.output()).log("tmpfs cannot be mounted with these options");
        }
        return mounted.ok();
    }

    /// Names, sizes and contents; an empty name ends it.
    private static boolean pack(Path images, Path file, ChunkCipher cipher) throws IOException {
        var permissions = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        Files.createFile(file, permissions);
        try (var out = new DataOutputStream(
                        new BufferedOutputStream(cipher.seal(Files.newOutputStream(file)), ChunkCipher.CHUNK));
                var all = Files.list(images)) {
            for (Path image : all.toList()) {
                out.writeUTF(image.getFileName().toString());
                out.writeUTF(PosixFilePermissions.toString(Files.getPosixFilePermissions(image)));
                out.writeLong(Files.size(image));
                Files.copy(image, out);
            }
            out.writeUTF("");
        }
        return true;
    }

    private static boolean unpack(Path file, Path images, ChunkCipher cipher) throws IOException {
        try (var in = new DataInputStream(
                new BufferedInputStream(cipher.open(Files.newInputStream(file)), ChunkCipher.CHUNK))) {
            for (String name = in.readUTF(); !name.isEmpty(); name = in.readUTF()) {
                Path image = images.resolve(name);
                var permissions = PosixFilePermissions.fromString(in.readUTF());
                Files.setPosixFilePermissions(Files.createFile(image), permissions);
                try (var out = Files.newOutputStream(image, StandardOpenOption.WRITE)) {
                    copy(in, in.readLong(), out);
                }
            }
        }
        return true;
    }

    private static void copy(DataInputStream in, long size, OutputStream out) throws IOException {
        byte[] some = new byte[ChunkCipher.CHUNK];
        for (long left = size; left > 0; ) {
            int count = in.read(some, 0, (int) Math.min(some.length, left));
            if (count < 0) {
                throw new EOFException("it ends too early");
            }
            out.write(some, 0, count);
            left -= count;
        }
    }
}
