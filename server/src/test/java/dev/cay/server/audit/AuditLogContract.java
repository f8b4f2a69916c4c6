package dev.cay.server.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.http.Json;
import dev.cay.metrics.Meters;
import dev.cay.server.audit.AuditVerification.Finding;
import dev.cay.server.event.LifecycleEvent;
import dev.cay.server.store.Store;
import dev.cay.server.store.StoreView;
import dev.cay.server.store.Transaction;
import dev.cay.testing.Await;
import dev.cay.wire.BuildId;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import dev.cay.wire.TemplateId;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// What is promised of the audit log, whatever engine the store has.
@Timeout(120)
abstract class AuditLogContract {
    private static final AuditExports.Settings NOWHERE = AuditExports.Settings.NONE;

    @TempDir
    Path directory;

    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-09-21T10:00:00Z"));
    private Store store;

    /// Empty.
    abstract Store open() throws Exception;

    @BeforeEach
    final void start() throws Exception {
        store = open();
    }

    @AfterEach
    final void stop() {
        store.close();
    }

    private AuditLog log(AuditExports.Settings exports) {
        return log(store, exports);
    }

    private AuditLog log(Store where, AuditExports.Settings exports) {
        var log =
                new AuditLog(new AuditLog.Settings(Duration.ofDays(90), false, exports), where, now::get, new Meters());
        log.start();
        return log;
    }

    /// A sandbox ends by itself.
    private void end(AuditLog log, String sandbox) {
        log.happened(new LifecycleEvent(
                "e",
                LifecycleEvent.Type.KILLED,
                new TeamId("t"),
                sandbox,
                new TemplateId("base"),
                new BuildId("b"),
                "x",
                Map.of("kill_reason", "timeout"),
                now.get()));
    }

    private List<JsonNode> entries() {
        return store.read(handle -> AuditStore.rows(handle, 0, 10_000)).stream()
                .map(row -> Json.mapper().readTree(row.link().body()))
                .toList();
    }

    private List<String> actions() {
        return entries().stream()
                .map(entry -> entry.get("action").stringValue())
                .toList();
    }

    private void fill(int entries) {
        try (var log = log(NOWHERE)) {
            for (int i = 0; i < entries; i++) {
                end(log, "i" + i);
            }
        }
    }

    private Finding verify() {
        return AuditVerification.run(store);
    }

    private void change(String sql) {
        store.write(handle -> handle.execute(sql));
    }

    @Test
    void theChainGoesOnAfterAStopAndAfterAKill() {
        fill(3);
        var killed = log(NOWHERE);
        end(killed, "i3");
        Await.until("seven entries", () -> actions().size() == 7);
        try (var log = log(NOWHERE)) {
            end(log, "i4");
        }
        assertThat(actions())
                .containsExactly(
                        "daemon.start",
                        "sandbox.end",
                        "sandbox.end",
                        "sandbox.end",
                        "daemon.stop",
                        "daemon.start",
                        "sandbox.end",
                        "daemon.start",
                        "sandbox.end",
                        "daemon.stop");
        assertThat(entries().get(0).has("previous")).isFalse();
        assertThat(entries().get(5).get("previous").stringValue()).isEqualTo("stopped");
        assertThat(entries().get(7).get("previous").stringValue()).isEqualTo("killed");
        assertThat(verify()).extracting(Finding::entries, Finding::wrong).containsExactly(10L, null);
    }

    @Test
    void manyAtOnceAreWrittenOnceEach() throws Exception {
        try (var log = log(NOWHERE);
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 2000; i++) {
                String id = "i" + i;
                var _ = threads.submit(() -> end(log, id));
            }
        }
        var ids = entries().stream()
                .filter(entry -> entry.has("sandbox"))
                .map(entry -> entry.get("sandbox").stringValue());
        assertThat(ids).hasSize(2000).doesNotHaveDuplicates();
        assertThat(entries().stream().map(entry -> entry.get("sequence").longValue()))
                .containsExactlyElementsOf(
                        LongStream.rangeClosed(1, 2002).boxed().toList());
        assertThat(verify().wrong()).isNull();
    }

    @Test
    void aChangedEntryIsFound() {
        fill(8);
        change("UPDATE audit SET body = replace(body, 'timeout', 'request') WHERE sequence = 5");
        assertThat(verify().wrong()).isEqualTo(5);
        assertThat(verify().problem()).contains("changed");
    }

    @Test
    void aChangedColumnIsFound() {
        fill(8);
        change("UPDATE audit SET sandbox_id = 'other' WHERE sequence = 4");
        assertThat(verify()).extracting(Finding::wrong).isEqualTo(4L);
    }

    @Test
    void aRemovedEntryIsFound() {
        fill(8);
        change("DELETE FROM audit WHERE sequence = 6");
        assertThat(verify().wrong()).isEqualTo(6);
        assertThat(verify().problem()).contains("missing");
    }

    @Test
    void aMovedEntryIsFound() {
        fill(8);
        change("UPDATE audit SET sequence = 999 WHERE sequence = 3");
        change("UPDATE audit SET sequence = 3 WHERE sequence = 4");
        change("UPDATE audit SET sequence = 4 WHERE sequence = 999");
        assertThat(verify().wrong()).isEqualTo(3);
    }

    @Test
    void aCutEndIsFound() {
        fill(8);
        change("DELETE FROM audit WHERE sequence > 7");
        assertThat(verify().wrong()).isEqualTo(8);
    }

    @Test
    void anEntryThatDoesNotBelongToTheChainIsFound() {
        fill(2);
        change(
                "INSERT INTO audit (sequence, id, at, action, actor, body, hash) VALUES (5, 'x', 0, 'a', 'b', '{}', 'h')");
        assertThat(verify().wrong()).isEqualTo(5);
    }

    @Test
    void aBeginningThatRetentionDidNotRemoveIsFound() {
        fill(8);
        change("""
                INSERT INTO audit_removed (last_sequence, entries, last_hash, removed_at)
                SELECT sequence, 3, hash, 0 FROM audit WHERE sequence = 3
                """);
        change("DELETE FROM audit WHERE sequence <= 3");
        assertThat(verify().wrong()).isEqualTo(3);
        assertThat(verify().problem()).contains("age");
    }

    @Test
    void whatIsOldIsRemovedAndItsHashIsKept() {
        fill(4);
        String last = store.read(handle -> AuditStore.rows(handle, 5, 1))
                .getFirst()
                .link()
                .hash();
        now.updateAndGet(time -> time.plus(Duration.ofDays(60)));
        fill(2);
        now.updateAndGet(time -> time.plus(Duration.ofDays(31)));
        try (var log = log(NOWHERE)) {
            log.forgetOld();
            log.forgetOld();
        }
        assertThat(entries().getFirst().get("sequence").longValue()).isEqualTo(7);
        var removed = store.read(AuditStore::removed).orElseThrow();
        assertThat(removed).isEqualTo(new AuditStore.Removed(6, 6, last));
        var told = entries().stream()
                .filter(entry -> entry.get("action").stringValue().equals("audit.remove"))
                .toList();
        assertThat(told).singleElement().satisfies(entry -> {
            assertThat(entry.get("removedHash").stringValue()).isEqualTo(last);
            assertThat(entry.get("removedEntries").stringValue()).isEqualTo("6");
        });
        assertThat(verify().wrong()).isNull();
        change("DELETE FROM audit WHERE sequence = 7");
        assertThat(verify().wrong()).isEqualTo(7);
    }

    @Test
    void entriesWaitForADatabaseThatIsAway() {
        var away = new AwayStore(store);
        try (var log = log(away, NOWHERE)) {
            Await.until("the first entry", () -> actions().size() == 1);
            away.away = true;
            end(log, "i1");
            end(log, "i2");
            away.away = false;
            Await.until("three entries", () -> actions().size() == 3);
        }
        assertThat(actions()).containsExactly("daemon.start", "sandbox.end", "sandbox.end", "daemon.stop");
        assertThat(verify().wrong()).isNull();
    }

    @Test
    void theFileGetsEveryEntryAlsoAfterAKillAndARename() throws Exception {
        Path file = directory.resolve("audit.jsonl");
        var settings = new AuditExports.Settings(file, null);
        fill(700);
        log(settings).close();
        assertThat(lines(file)).isEqualTo(704);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        Path old = Files.move(file, directory.resolve("audit.1"));
        // A daemon that is killed has written more than it noted.
        change("UPDATE audit_export SET sequence = 702");
        log(settings).close();
        assertChained(Files.readAllLines(old), 704, AuditChain.BEGINNING);
        var rest = Files.readAllLines(file);
        assertThat(rest.subList(0, 2)).isEqualTo(Files.readAllLines(old).subList(702, 704));
        String hash = AuditChain.Link.parse(rest.get(1)).orElseThrow().hash();
        assertThat(assertChained(rest.subList(2, 4), 706, hash)).isEqualTo(verify().headHash());
    }

    @Test
    void halfAnEntryOfAKilledDaemonIsWrittenAgain() throws Exception {
        Path file = directory.resolve("audit.jsonl");
        var settings = new AuditExports.Settings(file, null);
        fill(3);
        log(settings).close();
        var whole = Files.readAllLines(file);
        String half =
                String.join("\n", whole).substring(0, String.join("\n", whole).length() - 30);
        Files.writeString(file, half);
        change("UPDATE audit_export SET sequence = 6");
        log(settings).close();
        assertChained(Files.readAllLines(file), 9, AuditChain.BEGINNING);
    }

    /// A receiver that takes connections and never reads.
    @Test
    @Timeout(60)
    void aSyslogThatHangsIsGivenUp() throws Exception {
        Path socket = directory.resolve("log");
        String body = "{\"action\":\"x\",\"sequence\":1,\"text\":\"%s\"}".formatted("x".repeat(2000));
        var links = Collections.nCopies(1000, new AuditChain.Link(1, body, "0".repeat(64)));
        try (var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(socket));
            assertThatThrownBy(() -> AuditExports.sendToSyslog(socket.toString(), links))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("did not send");
        }
    }

    private static String assertChained(List<String> lines, long last, String before) {
        String hash = before;
        long sequence = last - lines.size();
        for (String line : lines) {
            var link = AuditChain.Link.parse(line).orElseThrow();
            assertThat(link.sequence()).isEqualTo(++sequence);
            assertThat(link.follows(hash)).isTrue();
            hash = link.hash();
        }
        return hash;
    }

    @Test
    void aFileThatCannotBeWrittenIsFilledLater() throws Exception {
        Path parent = directory.resolve("later");
        Path file = parent.resolve("audit.jsonl");
        var settings = new AuditExports.Settings(file, null);
        try (var log = log(settings)) {
            end(log, "i1");
            Await.until("two entries", () -> actions().size() == 2);
            Files.createDirectory(parent);
            Await.until("two exported lines", () -> lines(file) == 2);
        }
        assertThat(Files.readString(file)).contains("\"sandbox\":\"i1\"");
    }

    @Test
    void syslogGetsEntriesByUdp() throws Exception {
        fill(1);
        try (var receiver = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
            receiver.setSoTimeout(30_000);
            var settings = new AuditExports.Settings(null, "udp://127.0.0.1:" + receiver.getLocalPort());
            try (var log = log(settings)) {
                end(log, "i7");
                assertThat(receive(receiver))
                        .matches("<86>1 2026-09-21T10:00:00Z \\S+ cay \\d+ audit - \\{.*daemon\\.start.*}");
                String line = receive(receiver);
                assertThat(line).contains("\"sandbox\":\"i7\"");
                assertThat(AuditChain.Link.parse(line.substring(line.indexOf('{'))))
                        .isPresent();
            }
        }
    }

    private static String receive(DatagramSocket receiver) throws Exception {
        var packet = new DatagramPacket(new byte[8192], 8192);
        receiver.receive(packet);
        return new String(packet.getData(), 0, packet.getLength(), StandardCharsets.UTF_8);
    }

    private static long lines(Path file) {
        try {
            return Files.exists(file) ? Files.readAllLines(file).size() : 0;
        } catch (java.io.IOException e) {
            throw new AssertionError(e);
        }
    }

    /// A database elsewhere that cannot be reached for a while. Its commits get no answer.
    private static final class AwayStore implements Store {
        private final Store store;
        volatile boolean away;

        AwayStore(Store store) {
            this.store = store;
        }

        @Override
        public <T> T write(Transaction<T> work) {
            requireThere();
            store.write(work::run);
            return store.write(work::run);
        }

        @Override
        public <T> T read(Transaction<T> work) {
            requireThere();
            return store.read(work);
        }

        @Override
        public StoreView view() {
            return store.view();
        }

        private void requireThere() {
            if (away) {
                throw new CayException(ErrorKind.UNAVAILABLE, "the database cannot be reached");
            }
        }

        @Override
        public boolean isShared() {
            return true;
        }

        @Override
        public void close() {}
    }
}
