package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.host.Mounts;
import dev.cay.node.host.Programs;
import dev.cay.node.mcp.server.ServerHome;
import dev.cay.node.mcp.server.ServerLink;
import dev.cay.node.runtime.ContainerRuntime;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Servers are put away with all they remember and go on where they were, and nobody can read it meanwhile.
@NeedsRoot
class SleepingServersTest extends ServerHomeTest {
    private static final String SECRET = "planted-6e1d0a94b7";

    /// Answers each message with how many there were. To `half` it says the answer to the next one in advance, in part.
    private static final String COUNTER = """
            let calls = 0;
            let rest = '';
            const token = process.env.TOKEN;
            require('readline').createInterface({input: process.stdin}).on('line', line => {
              const message = JSON.parse(line);
              const answer = id => JSON.stringify({jsonrpc: '2.0', id, result: {calls: ++calls, length: token.length}});
              process.stdout.write((rest || answer(message.id)) + '\\n');
              rest = '';
              if (message.method === 'half') {
                const next = answer(message.id + 1);
                process.stdout.write(next.slice(0, 20));
                rest = next.slice(20);
              }
            });
            """;

    private int ids;

    @AfterEach
    void nothingIsLeftInTheOpen() {
        assertThat(Mounts.below(place.directory().resolve("run"))).isEmpty();
    }

    private int call(ServerLink link, Client client) throws InterruptedException {
        return call("count", link, client);
    }

    private int call(String method, ServerLink link, Client client) throws InterruptedException {
        link.send(message("{'jsonrpc':'2.0','id':%d,'method':'%s'}".formatted(++ids, method)));
        var answer = client.next();
        assertThat(answer.id().asInt()).isEqualTo(ids);
        return answer.tree().path("result").path("calls").asInt();
    }

    private ServerHome counter() {
        return open(script(COUNTER, Map.of("TOKEN", SECRET)));
    }

    private List<Path> sealed() throws IOException {
        try (var files = Files.list(place.directory().resolve("state/pool/sealed"))) {
            return files.toList();
        }
    }

    @Test
    void goOnWhereTheyWere() throws Exception {
        try (var home = counter()) {
            var one = new Client();
            var another = new Client();
            var first = home.connect(one);
            var second = home.connect(another);
            assertThat(call(first, one)).isEqualTo(1);
            assertThat(call(first, one)).isEqualTo(2);
            assertThat(call(second, another)).isEqualTo(1);
            for (int round = 0; round < 2; round++) {
                int taken = node.host.plan().taken();
                assertThat(home.sleep()).isTrue();
                assertThat(sides()).isEmpty();
                assertThat(node.host.plan().taken()).isEqualTo(taken - 1);
                assertThat(sealed()).hasSize(1);
                // With other users than before, the second time.
                var before = round == 0 ? null : node.host.plan().take();
                home.wake();
                assertThat(call(first, one)).isEqualTo(3 + round);
                assertThat(call(second, another)).isEqualTo(2 + round);
                if (before != null) {
                    node.host.plan().release(before);
                }
            }
            assertThat(sealed()).isEmpty();
            second.close();
            await(() -> processes() == 1);
        }
        assertThat(sides()).isEmpty();
    }

    /// What was half said before, and what was to be said meanwhile, comes once and whole.
    @Test
    void loseNoWord() throws Exception {
        try (var home = counter()) {
            var client = new Client();
            var link = home.connect(client);
            assertThat(call("half", link, client)).isEqualTo(1);
            assertThat(home.sleep()).isTrue();

            var said = new CompletableFuture<Integer>();
            Thread.ofVirtual().start(() -> {
                try {
                    said.complete(call(link, client));
                } catch (InterruptedException | RuntimeException e) {
                    said.completeExceptionally(e);
                }
            });
            var connected = new CompletableFuture<ServerLink>();
            Thread.ofVirtual().start(() -> connected.complete(home.connect(new Client())));
            home.wake();
            assertThat(said.get(TestNode.LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo(2);
            connected.get(TestNode.LIMIT.toSeconds(), TimeUnit.SECONDS).close();
            assertThat(call(link, client)).isEqualTo(3);
            assertThat(client.heard).isEmpty();
        }
    }

    @Test
    void whoIsClosedMeanwhileIsNotBroughtBack() throws Exception {
        try (var home = counter()) {
            var client = new Client();
            var stays = home.connect(client);
            var goes = home.connect(new Client());
            assertThat(home.sleep()).isTrue();
            goes.close();
            home.wake();
            assertThat(call(stays, client)).isEqualTo(1);
            await(() -> processes() == 1);
            assertThat(home.sleep()).isTrue();
            stays.close();
            home.wake();
            assertThat(sides()).isEmpty();
            assertThat(sealed()).isEmpty();
            assertThat(call(home.connect(client), client)).isEqualTo(1);
        }
    }

    /// As CRIU writes it, it is there to be found; where it is written is no disk, and afterwards it is nowhere.
    @Test
    void noFileHoldsWhatTheyWereGiven() throws Exception {
        var plain = new ArrayList<String>();
        var doors = new ArrayList<String>();
        reopen(runtime -> new RuntimeAround(runtime) {
            @Override
            public void checkpoint(SandboxId id, Path images, After after) {
                super.checkpoint(id, images, after);
                plain.addAll(filesWith(SECRET));
                doors.add(permissions(images.getParent()));
            }
        });
        try (var home = counter()) {
            var client = new Client();
            var link = home.connect(client);
            call(link, client);
            assertThat(home.sleep()).isTrue();
            assertThat(plain).isNotEmpty().allMatch(file -> file.startsWith(place.directory() + "/run/images/"));
            assertThat(doors).containsExactly("r-x------");
            assertThat(Files.size(sealed().getFirst())).isGreaterThan(1 << 20);
            node.host.pool().sync();
            assertThat(filesWith(SECRET)).isEmpty();
            home.wake();
            assertThat(call(link, client)).isEqualTo(2);
        }
    }

    private static String permissions(Path directory) {
        try {
            return PosixFilePermissions.toString(Files.getPosixFilePermissions(directory));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void whatWasChangedIsNotBroughtBack() throws Exception {
        try (var home = counter()) {
            var client = new Client();
            var link = home.connect(client);
            call(link, client);
            assertThat(home.sleep()).isTrue();
            byte[] bytes = Files.readAllBytes(sealed().getFirst());
            bytes[bytes.length / 2] ^= 1;
            Files.write(sealed().getFirst(), bytes);
            home.wake();
            assertAfresh(home, link, client, "brought back");
        }
    }

    @Test
    void whatCannotBeSavedStartsAfresh() throws Exception {
        reopen(runtime -> new RuntimeAround(runtime) {
            @Override
            public void checkpoint(SandboxId id, Path images, After after) {
                throw new CayException(ErrorKind.NOT_SAVED, "as if CRIU refused");
            }
        });
        try (var home = counter()) {
            var client = new Client();
            var link = home.connect(client);
            call(link, client);
            assertThat(home.sleep()).isTrue();
            home.wake();
            assertAfresh(home, link, client, "put away");
        }
    }

    private void assertAfresh(ServerHome home, ServerLink link, Client client, String not) throws Exception {
        assertThat(client.reason()).contains("could not be %s with its sandbox".formatted(not));
        assertThatThrownBy(() -> call(link, client)).isInstanceOf(CayException.class);
        assertThat(sides()).isEmpty();
        assertThat(sealed()).isEmpty();
        var next = new Client();
        assertThat(call(home.connect(next), next)).isEqualTo(1);
    }

    @Test
    void theyEndWithTheirOwner() throws Exception {
        try (var home = counter()) {
            var client = new Client();
            home.connect(client);
            assertThat(home.sleep()).isTrue();
            node.keepers.tidy();
            assertThat(sealed()).hasSize(1);
            node.keepers.kill(OWNER);
            node.keepers.tidy();
            assertThat(sealed()).isEmpty();
            assertThat(node.host.pool().list()).isEmpty();
            assertThat(client.reason()).contains("ended with its sandbox");
        }
    }

    @Test
    void theyEndWithTheDaemon() throws Exception {
        counter().connect(new Client());
        var home = counter();
        home.connect(new Client());
        assertThat(home.sleep()).isTrue();
        node.close();
        assertThat(sealed()).isEmpty();
        node = new TestNode(place);
        assertThat(node.host.pool().list()).containsExactly(OWNER);
    }

    @Test
    void aLaterDaemonRemovesThoseOfOneThatWasKilled() throws Exception {
        homes.close();
        node.close();
        killedDaemon(true);
        assertThat(sealed()).as("left behind").hasSize(1);
        var mount = Files.createDirectories(place.directory().resolve("run/images/left"));
        Programs.ofHost().require(TestNode.LIMIT, "mount", "-t", "tmpfs", "tmpfs", mount.toString());

        node = new TestNode(place);

        assertThat(sealed()).isEmpty();
        assertThat(place.directory().resolve("run/images")).doesNotExist();
        assertThat(node.host.pool().list()).containsExactly(OWNER);
        assertThat(SandboxNotes.list(place.records())).containsExactly(OWNER);
    }

    private void reopen(UnaryOperator<ContainerRuntime> around) throws IOException {
        homes.close();
        node.close();
        node = new TestNode(place, around, TestNode.EDGE_PORT);
        homes = homes(node, IDLE);
    }
}
