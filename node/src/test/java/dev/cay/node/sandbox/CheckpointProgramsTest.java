package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.host.Programs;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Keep;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/// CRIU starts no program that is not needed, and what it would have done is done all the same.
@NeedsRoot
class CheckpointProgramsTest extends NodeTest {
    private static final SandboxId ID = new SandboxId("lean");
    private static final Duration LIMIT = Duration.ofMinutes(1);

    /// What stands in a file system that was saved without tar, from the fifth byte on.
    private static final String OURS = "CAY1";

    private static final String LIST = "find /dev/shm /run -printf '%p %y %m %U:%G %TY %s %l\\n"
            + "' | sort; cat /dev/shm/d/deep /dev/shm/large | md5sum";

    private void pauseAndResume() throws Exception {
        node.keepers.pause(ID, Keep.MEMORY);
        await(() -> !Files.exists(node.host.pool().layer(ID)));
        node.keepers.resume(ID, true);
    }

    /// How many file systems a snapshot holds, and how many of them were saved without tar.
    private List<Integer> saved(String name) throws IOException {
        var images = node.host.pool().directory("snapshots").resolve(name).resolve("memory");
        int all = 0;
        int ours = 0;
        try (var files = Files.list(images)) {
            for (Path file : files.toList()) {
                if (file.getFileName().toString().startsWith("tmpfs-")) {
                    byte[] begin = Arrays.copyOfRange(Files.readAllBytes(file), 4, 8);
                    all++;
                    ours += new String(begin, StandardCharsets.US_ASCII).equals(OURS) ? 1 : 0;
                }
            }
        }
        return List.of(all, ours);
    }

    @Test
    void filesInMemoryAreAsTheyWere() throws Exception {
        node.keepers.create(TestNode.spec("lean"));
        node.run("lean", """
            cd /dev/shm; mkdir -m 1777 d; mkdir d/empty; echo deep > d/deep; : > nothing; ln -s ../nowhere link
            echo secret > run; chown 7:8 run; chmod 4640 run; touch -h -d 2020-02-02 run link d; chmod 700 /dev/shm; chown 9:9 /dev/shm\
            """);
        String before = node.run("lean", LIST);
        assertThat(before)
                .contains(
                        "/dev/shm d 700 9:9 ",
                        "/dev/shm/d d 1777 0:0 2020",
                        "/dev/shm/link l 777 0:0 2020",
                        "/dev/shm/run f 4640 7:8 2020 7");
        node.keepers.snapshot(ID, "small", Keep.MEMORY);
        var small = saved("small");
        assertThat(small.getFirst()).isGreaterThanOrEqualTo(3).isEqualTo(small.getLast());
        pauseAndResume();
        assertThat(node.run("lean", LIST)).isEqualTo(before);

        // What is large, or no file, link or directory, is left to tar.
        node.run("lean", "head -c 300000 /dev/urandom > /dev/shm/large; mkfifo /run/pipe");
        before = node.run("lean", LIST);
        node.keepers.snapshot(ID, "large", Keep.MEMORY);
        assertThat(saved("large")).containsExactly(small.getFirst(), small.getFirst() - 2);
        pauseAndResume();
        assertThat(node.run("lean", LIST)).isEqualTo(before);
    }

    private int count() throws Exception {
        String counted = node.run("lean", "cat /count");
        return counted.matches("1+") ? counted.length() : 0;
    }

    /// The programs by which CRIU holds traffic back leave their table behind, whichever of the two kinds they are.
    private boolean wasHeldBack() throws IOException {
        String pid = Integer.toString(node.runc.find(ID).orElseThrow().pid());
        var old = Path.of("/proc", pid, "net/ip_tables_names");
        return (Files.exists(old) && Files.readString(old).contains("filter"))
                || Programs.ofHost()
                        .require(LIMIT, "nsenter", "-t", pid, "-n", "nft", "list", "tables")
                        .contains("table ip filter");
    }

    @Test
    void trafficIsHeldBackWhereThereAreConnectionsAlone() throws Exception {
        node.keepers.create(TestNode.spec("lean"));
        node.keepers.snapshot(ID, "quiet", Keep.MEMORY);
        assertThat(wasHeldBack()).isFalse();
        node.run("lean", """
            cat > /talk.py <<END
            import socket, time
            server = socket.create_server(("127.0.0.1", 0)); client = socket.create_connection(server.getsockname())
            other = server.accept()[0]
            while True:
                client.sendall(b"x" * 7)
                assert len(other.recv(7, socket.MSG_WAITALL)) == 7
                open("/count", "a").write("1")
                time.sleep(0.01)
            END
            """);
        node.start("lean", "exec python3 /talk.py");
        await(() -> count() > 3);
        node.keepers.snapshot(ID, "connected", Keep.MEMORY);
        assertThat(wasHeldBack()).isTrue();
        pauseAndResume();
        int before = count();
        await(() -> count() > before + 3);
    }

    @Test
    void whatCriuFindsOutOfTheKernelIsKept() throws Exception {
        node.keepers.create(TestNode.spec("lean"));
        pauseAndResume();
        node.keepers.snapshot(ID, "again", Keep.MEMORY);
        String boot =
                Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
        try (var files = Files.walk(place.directory(), 4)) {
            assertThat(files.map(file -> file.getFileName().toString()).filter(name -> name.startsWith("kernel-")))
                    .singleElement()
                    .asString()
                    .matches("kernel-" + boot + "-[0-9a-f]+-[0-9a-f]+");
        }
    }
}
