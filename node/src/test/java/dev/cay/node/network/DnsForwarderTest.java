package dev.cay.node.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.life.Undo;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.node.Ceiling;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class DnsForwarderTest {
    private static final int MOST_TRIES = 10;
    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");
    private static final int REFUSED = 5;
    private static final int SERVER_FAILURE = 2;
    private static final int NO_SUCH_NAME = 3;
    private static final byte[] ADDRESS = {(byte) 192, 0, 2, 33};

    private final Undo undo = new Undo();
    private @Nullable NameFilter filter;
    private boolean showsAll;
    private Ceiling ceiling = Ceiling.NONE;
    private final Set<String> refused = ConcurrentHashMap.newKeySet();
    private Duration patience = Duration.ofMillis(200);

    @AfterEach
    void closeAll() {
        undo.close();
    }

    @Test
    void passesQuestionsOnByBothTransports() throws Exception {
        var upstream = upstream(DnsForwarderTest::answer);
        var forwarder = start(List.of(upstream.address()), DnsForwarder.Standing.SERVED);
        byte[] question = question(7, "example.test", 1);
        assertAnswer(udp(forwarder, question), 7);
        assertAnswer(tcp(forwarder, question), 7);
    }

    @Test
    void asksEachTimeWithAnotherIdFromAnotherPort() throws Exception {
        var upstream = upstream(DnsForwarderTest::answer);
        var forwarder = start(List.of(upstream.address()), DnsForwarder.Standing.SERVED);
        var ids = new HashSet<Short>();
        for (int i = 0; i < 8; i++) {
            udp(forwarder, question(1, "example.test", 1));
        }
        upstream.seen.forEach(seen -> ids.add(
                ByteBuffer.wrap(seen.getBytes(StandardCharsets.ISO_8859_1)).getShort()));
        assertThat(upstream.ports).hasSizeGreaterThan(4);
        assertThat(ids).hasSizeGreaterThan(4);
    }

    @Test
    void turnsToTheNextServerWhenOneIsSilentOrFails() throws Exception {
        var silent = upstream(_ -> new byte[0]);
        var failing = upstream(question -> code(question, SERVER_FAILURE));
        var good = upstream(DnsForwarderTest::answer);
        var forwarder =
                start(List.of(silent.address(), failing.address(), good.address()), DnsForwarder.Standing.SERVED);
        assertAnswer(udp(forwarder, question(9, "example.test", 1)), 9);
        assertThat(silent.seen).isNotEmpty();
        assertThat(failing.seen).isNotEmpty();
    }

    @Test
    void ignoresAnswersToOtherQuestionsAndSaysWhenNobodyAnswers() throws Exception {
        var liar = upstream(question -> answer(withName(question, "exbmple.test")));
        var forwarder = start(List.of(liar.address()), DnsForwarder.Standing.SERVED);
        byte[] reply = udp(forwarder, question(3, "example.test", 1));
        assertThat(reply[3] & 0xf).isEqualTo(SERVER_FAILURE);
        assertThat(ByteBuffer.wrap(reply).getShort(0)).isEqualTo((short) 3);
    }

    @Test
    void tellsNoAddressThatTheOperatorForbids() throws Exception {
        var upstream = upstream(DnsForwarderTest::answer);
        var forwarder = start(List.of(upstream.address()), DnsForwarder.Standing.SERVED);
        ceiling = new Ceiling(List.of("192.0.2.33"), List.of());
        assertAnswer(udp(forwarder, question(7, "example.test", 1)), 7);
        ceiling = new Ceiling(List.of(), List.of("192.0.2.0/24"));
        byte[] told = udp(forwarder, question(7, "example.test", 1));
        assertThat(ByteBuffer.wrap(told).getShort(6)).as("records").isZero();
    }

    @Test
    void asksForNoNameThatTheOperatorForbids() throws Exception {
        var upstream = upstream(DnsForwarderTest::answer);
        var forwarder = start(List.of(upstream.address()), DnsForwarder.Standing.SERVED);
        ceiling = new Ceiling(List.of(), List.of(), List.of("*.allowed.test"));
        assertThat(udp(forwarder, question(7, "data.evil.test", 16))[3] & 0xf).isEqualTo(REFUSED);
        assertThat(udp(forwarder, question(7, "allowed.test", 1))[3] & 0xf).isEqualTo(REFUSED);
        assertThat(upstream.seen).isEmpty();
        assertThat(refused).containsExactlyInAnyOrder("data.evil.test", "allowed.test");
        assertAnswer(udp(forwarder, question(7, "www.allowed.test", 1)), 7);
    }

    @Test
    void leadsNamesOfSandboxesToTheEdgeInside() throws Exception {
        var forwarder = start(List.of("127.0.0.1:1"), DnsForwarder.Standing.LOCAL_NAMES_ONLY);
        byte[] four = udp(forwarder, question(5, "8080-abc.CAY.test", 1));
        assertThat(Arrays.copyOfRange(four, four.length - 4, four.length)).containsExactly(127, 0, 0, 1);
    }

    @Test
    void answersATeamWhileAllSandboxesOfAnotherWaitForASilentServer() throws Exception {
        patience = Duration.ofSeconds(20);
        var silent = upstream(question ->
                new String(question, StandardCharsets.ISO_8859_1).contains("calm") ? answer(question) : new byte[0]);
        var forwarder = start(List.of(silent.address()), DnsForwarder.Standing.SERVED);
        for (int client = 2; client < 26; client++) {
            flood(forwarder, InetAddress.ofLiteral("127.0.0." + client), silent);
        }
        assertThat(silent.seen.size()).as("held by the noisy team").isBetween(300, 512);
        assertAnswer(udp(forwarder, question(4, "calm.test", 1)), 4);
    }

    /// Asks as many questions as one sandbox may, and waits until those that are admitted were passed on.
    private static void flood(DnsForwarder forwarder, InetAddress client, Upstream upstream) throws Exception {
        try (var socket = new DatagramSocket(new InetSocketAddress(client, 0))) {
            socket.connect(new InetSocketAddress(LOOPBACK, forwarder.port()));
            for (int i = 0; i < 64; i++) {
                byte[] question = question(i, "n%d.c%d.noisy.test".formatted(i, client.getAddress()[3]), 1);
                socket.send(new DatagramPacket(question, question.length));
            }
            int before;
            do {
                before = upstream.seen.size();
                Thread.sleep(100);
            } while (upstream.seen.size() > before);
        }
    }

    @Test
    void answersLocalhostItself() throws Exception {
        var forwarder = start(List.of("127.0.0.1:1"), DnsForwarder.Standing.LOCAL_NAMES_ONLY);
        byte[] four = udp(forwarder, question(5, "49983-abc.cay.LOCALHOST", 1));
        assertThat(Arrays.copyOfRange(four, four.length - 4, four.length)).containsExactly(127, 0, 0, 1);
        byte[] six = udp(forwarder, question(5, "localhost", 28));
        assertThat(six[six.length - 1]).isEqualTo((byte) 1);
        byte[] text = udp(forwarder, question(5, "localhost", 16));
        assertThat(text[3] & 0xf).isZero();
        assertThat(ByteBuffer.wrap(text).getShort(6)).isZero();
    }

    @Test
    void refusesNamesToWhoMayNotReachTheInternet() throws Exception {
        var upstream = upstream(DnsForwarderTest::answer);
        var forwarder = start(List.of(upstream.address()), DnsForwarder.Standing.LOCAL_NAMES_ONLY);
        assertThat(udp(forwarder, question(5, "secret.example.test", 1))[3] & 0xf)
                .isEqualTo(REFUSED);
        assertThat(upstream.seen).isEmpty();
    }

    @Test
    void givesAddressesOfAllowedNamesAndNothingElse() throws Exception {
        filter = filter(true);
        var upstream = upstream(DnsForwarderTest::answer);
        var forwarder = start(List.of(upstream.address()), DnsForwarder.Standing.LOCAL_NAMES_ONLY);
        byte[] question = question(7, "www.allowed.test", 1);
        assertAnswer(udp(forwarder, question), 7);
        assertAnswer(tcp(forwarder, question), 7);
        upstream.seen.clear();

        for (int type : new int[] {28, 16, 64, 65, 255, 5, 15, 10, 252}) {
            byte[] none = udp(forwarder, question(8, "www.allowed.test", type));
            assertThat(none[3] & 0xf).as("type %d", type).isZero();
            assertThat(ByteBuffer.wrap(none).getShort(6)).as("type %d", type).isZero();
        }
        for (String name : List.of("secret.evil.test", "allowed.test.evil.test", "allowed.tes")) {
            assertThat(udp(forwarder, question(9, name, 1))[3] & 0xf).as(name).isEqualTo(REFUSED);
            assertThat(tcp(forwarder, question(9, name, 16))[3] & 0xf).as(name).isEqualTo(REFUSED);
        }
        assertThat(upstream.seen).as("what left").isEmpty();
    }

    /// Data could leave in what surrounds a name.
    @Test
    void asksInItsOwnWordsForAClientThatSeesSomeNamesOnly() throws Exception {
        filter = filter(true);
        var upstream = upstream(DnsForwarderTest::answer);
        var forwarder = start(List.of(upstream.address()), DnsForwarder.Standing.SERVED);
        byte[] plain = question(7, "www.allowed.test", 1);
        byte[] smuggled = Arrays.copyOf(plain, plain.length + 30);
        System.arraycopy("exfiltrated".getBytes(StandardCharsets.US_ASCII), 0, smuggled, plain.length, 11);
        smuggled[11] = 1;
        assertAnswer(udp(forwarder, smuggled), 7);
        assertThat(upstream.seen).hasSize(1).allSatisfy(seen -> assertThat(seen).doesNotContain("exfil"));

        filter = null;
        upstream.seen.clear();
        udp(forwarder, smuggled);
        assertThat(upstream.seen)
                .as("the control")
                .allSatisfy(seen -> assertThat(seen).contains("exfil"));
    }

    @Test
    void hidesPrivateZones() throws Exception {
        filter = filter(true);
        byte[] inside = {10, 1, 2, 3};
        var upstream = upstream(question -> {
            byte[] reply = answer(question);
            System.arraycopy(inside, 0, reply, reply.length - 4, 4);
            return reply;
        });
        var forwarder = start(List.of(upstream.address()), DnsForwarder.Standing.SERVED);
        byte[] reply = udp(forwarder, question(7, "intranet.allowed.test", 1));
        assertThat(ByteBuffer.wrap(reply).getShort(6)).isZero();
        filter = filter(false);
        byte[] looked = udp(forwarder, question(7, "intranet.allowed.test", 1));
        assertThat(ByteBuffer.wrap(looked).getShort(6)).isZero();
        filter = null;
        for (byte[] raw : List.of(
                udp(forwarder, question(7, "intranet.test", 1)),
                tcp(forwarder, question(7, "intranet.test", 1)),
                udp(forwarder, question(7, "intranet.test", 15)))) {
            assertThat(raw[3] & 0xf).isZero();
            assertThat(ByteBuffer.wrap(raw).getShort(6)).as("without rules").isZero();
        }

        showsAll = true;
        byte[] control = udp(forwarder, question(7, "intranet.allowed.test", 1));
        assertThat(Arrays.copyOfRange(control, control.length - 4, control.length))
                .isEqualTo(inside);
    }

    @Test
    void asksNobodyForWhatOnlyPrivateZonesHave() throws Exception {
        var upstream = upstream(DnsForwarderTest::answer);
        var forwarder = start(List.of(upstream.address()), DnsForwarder.Standing.SERVED);
        for (String name : List.of("x.internal", "_ldap._tcp.corp", "printer.local", "a.home.arpa")) {
            assertThat(udp(forwarder, question(8, name, 16))[3] & 0xf).as(name).isEqualTo(NO_SUCH_NAME);
        }
        for (String name : List.of("3.2.1.10.in-addr.arpa", "10.in-addr.arpa", "168.192.in-addr.arpa")) {
            assertThat(udp(forwarder, question(8, name, 12))[3] & 0xf).as(name).isEqualTo(NO_SUCH_NAME);
        }
        assertThat(upstream.seen).isEmpty();
        assertAnswer(udp(forwarder, question(7, "db.internal", 1)), 7);
        assertAnswer(udp(forwarder, question(7, "8.8.8.8.in-addr.arpa", 12)), 7);
        assertAnswer(udp(forwarder, question(7, "internal.test", 16)), 7);
    }

    @Test
    void keepsRecordsThatHideNamesFromWhoseConnectionsAreLookedAt() throws Exception {
        filter = filter(false);
        var upstream = upstream(DnsForwarderTest::answer);
        var forwarder = start(List.of(upstream.address()), DnsForwarder.Standing.SERVED);
        assertAnswer(udp(forwarder, question(7, "any.test", 1)), 7);
        upstream.seen.clear();
        for (int type : new int[] {64, 65}) {
            assertThat(ByteBuffer.wrap(udp(forwarder, question(8, "any.test", type)))
                            .getShort(6))
                    .isZero();
        }
        assertThat(upstream.seen).isEmpty();
    }

    @Test
    void saysNothingToStrangersAndToNonsense() throws Exception {
        var upstream = upstream(DnsForwarderTest::answer);
        var strict = start(List.of(upstream.address()), DnsForwarder.Standing.STRANGER);
        assertThatThrownBy(() -> udp(strict, question(5, "example.test", 1)))
                .isInstanceOf(SocketTimeoutException.class);
        var open = start(List.of(upstream.address()), DnsForwarder.Standing.SERVED);
        for (byte[] nonsense : List.of(new byte[0], new byte[11], cyclicName(), truncated())) {
            assertThatThrownBy(() -> udp(open, nonsense)).isInstanceOf(SocketTimeoutException.class);
        }
        assertThat(upstream.seen).isEmpty();
        assertAnswer(udp(open, question(6, "example.test", 1)), 6);
    }

    @Test
    void readsResolvConfAgainWhenItChanges(@TempDir Path dir) throws Exception {
        var file =
                Files.writeString(dir.resolve("resolv.conf"), "search x\nnameserver 127.0.0.53\nnameserver 10.9.0.1\n");
        var resolvers = new Resolvers(List.of(), InetAddress.ofLiteral("10.9.0.1"), file);
        assertThat(resolvers.list()).containsExactly(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.53"), 53));
        Files.writeString(file, "nameserver 192.0.2.1\nnameserver not-an-address\nnameserver 2001:db8::1\n");
        Files.setLastModifiedTime(file, FileTime.fromMillis(1));
        assertThat(resolvers.list()).hasSize(2);
        Files.delete(file);
        assertThat(resolvers.list()).hasSize(2);
    }

    /// Sees addresses of names below `allowed.test`, and none of a private network.
    private static NameFilter filter(boolean addressesOnly) {
        return new NameFilter() {
            @Override
            public boolean addressesOnly() {
                return addressesOnly;
            }

            @Override
            public boolean allows(String name) {
                return !addressesOnly || name.endsWith("allowed.test");
            }

            @Override
            public boolean shows(InetAddress address) {
                return !address.isSiteLocalAddress();
            }
        };
    }

    /// A port that is free for datagrams may be taken for streams: then it is another one's turn.
    private final class TestRules implements DnsForwarder.Rules {
        private final DnsForwarder.Standing standing;

        TestRules(DnsForwarder.Standing standing) {
            this.standing = standing;
        }

        @Override
        public DnsForwarder.Standing standing(InetAddress client) {
            return standing;
        }

        @Override
        public Optional<NameFilter> filter(InetAddress client) {
            return Optional.ofNullable(filter);
        }

        @Override
        public String team(InetAddress client) {
            return client.equals(LOOPBACK) ? "calm" : "noisy";
        }

        @Override
        public boolean shows(InetAddress address) {
            return showsAll || !address.isSiteLocalAddress();
        }

        @Override
        public boolean permits(InetAddress address) {
            return ceiling.permits(address);
        }

        @Override
        public boolean permits(String name) {
            return ceiling.permitsName(name);
        }

        @Override
        public void refused(InetAddress client, String name) {
            refused.add(name);
        }

        @Override
        public boolean isInside(String name) {
            return name.endsWith(".cay.test");
        }
    }

    private DnsForwarder start(List<String> servers, DnsForwarder.Standing standing) {
        for (int tries = 1; ; tries++) {
            var forwarder = undo.add(new DnsForwarder(
                    new InetSocketAddress(LOOPBACK, 0),
                    new NameServers(new Resolvers(servers, InetAddress.ofLiteral("192.0.2.1")), patience),
                    new TestRules(standing)));
            try {
                forwarder.start();
                return forwarder;
            } catch (CayException e) {
                if (tries == MOST_TRIES) {
                    throw e;
                }
            }
        }
    }

    /// A name server of our own that records what it is asked.
    private static final class Upstream implements AutoCloseable {
        final Set<String> seen = ConcurrentHashMap.newKeySet();
        final Set<Integer> ports = ConcurrentHashMap.newKeySet();
        private final DatagramSocket datagrams;
        private final ServerSocket streams = new ServerSocket(0, 10, LOOPBACK);

        Upstream(UnaryOperator<byte[]> behaviour) throws IOException {
            // The rarer kind second: connections of this machine keep many ports of the other.
            datagrams = new DatagramSocket(streams.getLocalPort(), LOOPBACK);
            Thread.startVirtualThread(() -> serveDatagrams(behaviour));
            Thread.startVirtualThread(() -> serveStreams(behaviour));
        }

        String address() {
            return "127.0.0.1:" + datagrams.getLocalPort();
        }

        private byte[] heard(byte[] question, int port, UnaryOperator<byte[]> behaviour) {
            seen.add(new String(question, StandardCharsets.ISO_8859_1));
            ports.add(port);
            return behaviour.apply(question);
        }

        private void serveDatagrams(UnaryOperator<byte[]> behaviour) {
            try {
                while (true) {
                    var packet = new DatagramPacket(new byte[1500], 1500);
                    datagrams.receive(packet);
                    byte[] question = Arrays.copyOf(packet.getData(), packet.getLength());
                    byte[] reply = heard(question, packet.getPort(), behaviour);
                    if (reply.length > 0) {
                        datagrams.send(new DatagramPacket(reply, reply.length, packet.getSocketAddress()));
                    }
                }
            } catch (IOException _) {
                // Closed.
            }
        }

        private void serveStreams(UnaryOperator<byte[]> behaviour) {
            try {
                while (true) {
                    try (var socket = streams.accept()) {
                        var in = new DataInputStream(socket.getInputStream());
                        byte[] reply = heard(in.readNBytes(in.readUnsignedShort()), socket.getPort(), behaviour);
                        var out = new DataOutputStream(socket.getOutputStream());
                        out.writeShort(reply.length);
                        out.write(reply);
                    }
                }
            } catch (IOException _) {
                // Closed.
            }
        }

        @Override
        public void close() throws IOException {
            datagrams.close();
            streams.close();
        }
    }

    private Upstream upstream(UnaryOperator<byte[]> behaviour) throws IOException {
        return undo.add(new Upstream(behaviour));
    }

    private static byte[] udp(DnsForwarder forwarder, byte[] question) throws IOException {
        try (var socket = new DatagramSocket()) {
            socket.connect(new InetSocketAddress(LOOPBACK, forwarder.port()));
            socket.setSoTimeout(3000);
            socket.send(new DatagramPacket(question, question.length));
            var packet = new DatagramPacket(new byte[1500], 1500);
            socket.receive(packet);
            return Arrays.copyOf(packet.getData(), packet.getLength());
        }
    }

    private static byte[] tcp(DnsForwarder forwarder, byte[] question) throws IOException {
        try (var socket = new Socket(LOOPBACK, forwarder.port())) {
            socket.setSoTimeout(3000);
            var out = new DataOutputStream(socket.getOutputStream());
            out.writeShort(question.length);
            out.write(question);
            var in = new DataInputStream(socket.getInputStream());
            return in.readNBytes(in.readUnsignedShort());
        }
    }

    private static void assertAnswer(byte[] reply, int id) {
        assertThat(ByteBuffer.wrap(reply).getShort(0)).isEqualTo((short) id);
        assertThat(reply[3] & 0xf).isZero();
        assertThat(Arrays.copyOfRange(reply, reply.length - 4, reply.length)).isEqualTo(ADDRESS);
    }

    private static byte[] question(int id, String name, int type) {
        var out = ByteBuffer.allocate(512);
        out.putShort((short) id).putShort((short) 0x0100).putShort((short) 1).putShort((short) 0);
        out.putInt(0);
        for (String label : name.split("\\.")) {
            out.put((byte) label.length()).put(label.getBytes(StandardCharsets.US_ASCII));
        }
        out.put((byte) 0).putShort((short) type).putShort((short) 1);
        return Arrays.copyOf(out.array(), out.position());
    }

    private static byte[] withName(byte[] question, String name) {
        byte[] other = question(0, name, 1);
        System.arraycopy(question, 0, other, 0, 2);
        return other;
    }

    private static byte[] answer(byte[] question) {
        var out = ByteBuffer.allocate(question.length + 16);
        out.put(code(question, 0)).putShort(6, (short) 1);
        out.putShort((short) 0xc00c).putShort((short) 1).putShort((short) 1).putInt(5);
        out.putShort((short) 4).put(ADDRESS);
        return out.array();
    }

    private static byte[] code(byte[] question, int code) {
        byte[] reply = question.clone();
        reply[2] |= (byte) 0x80;
        reply[3] = (byte) code;
        return reply;
    }

    private static byte[] cyclicName() {
        byte[] message = question(1, "example.test", 1);
        message[12] = (byte) 0xc0;
        message[13] = 12;
        return message;
    }

    private static byte[] truncated() {
        return Arrays.copyOf(question(1, "example.test", 1), 20);
    }
}
