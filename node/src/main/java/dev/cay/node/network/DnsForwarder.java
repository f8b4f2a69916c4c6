package dev.cay.node.network;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Answers sandboxes' DNS questions on the gateway address by asking the host's name servers.
///
/// Each question travels from a port of its own with an id of its own, so that one sandbox cannot guess its way into
/// another's answer. One virtual thread per question; how many a sandbox may have open is bounded, further ones are
/// dropped as a busy network would.
final class DnsForwarder implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(DnsForwarder.class);
    private static final int MAX_DATAGRAM = 16_384;
    private static final int MAX_QUESTION = 4096;
    private static final int MAX_OPEN = 1024;
    private static final int MAX_OPEN_PER_CLIENT = 64;
    private static final int ROUNDS = 2;
    private static final Duration TCP_IDLE = Duration.ofSeconds(10);

    /// What somebody who asks may have.
    enum Standing {
        SERVED,
        LOCAL_NAMES_ONLY,
        STRANGER
    }

    /// Asks one name server once.
    private interface Transport {
        byte[] ask(InetSocketAddress server, byte[] question) throws IOException;
    }

    private final InetSocketAddress address;
    private final Resolvers resolvers;
    private final Function<InetAddress, Standing> standing;
    private final Duration patience;
    private final SecureRandom random = new SecureRandom();
    private final Map<InetAddress, AtomicInteger> open = new ConcurrentHashMap<>();
    private final AtomicInteger allOpen = new AtomicInteger();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private @Nullable DatagramSocket datagrams;
    private @Nullable ServerSocket streams;

    DnsForwarder(InetSocketAddress address, Resolvers resolvers, Function<InetAddress, Standing> standing) {
        this(address, resolvers, standing, Duration.ofSeconds(2));
    }

    /// @param patience how long one name server may take before the next is asked
    DnsForwarder(
            InetSocketAddress address,
            Resolvers resolvers,
            Function<InetAddress, Standing> standing,
            Duration patience) {
        this.address = address;
        this.resolvers = resolvers;
        this.standing = standing;
        this.patience = patience;
    }

    void start() {
        try {
            var udp = new DatagramSocket(address);
            datagrams = udp;
            var tcp = new ServerSocket();
            streams = tcp;
            tcp.setReuseAddress(true);
            tcp.bind(new InetSocketAddress(address.getAddress(), udp.getLocalPort()), 128);
            threads.execute(() -> serveDatagrams(udp));
            threads.execute(() -> serveStreams(tcp));
        } catch (IOException e) {
            close();
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "port %d of %s is taken, probably by a name server that listens on all addresses: let it listen on its own only (`ss -lnp sport = :53` names it)"
                            .formatted(address.getPort(), address.getHostString()),
                    e);
        }
    }

    int port() {
        var udp = datagrams;
        return udp == null ? 0 : udp.getLocalPort();
    }

    @Override
    public void close() {
        if (datagrams != null) {
            datagrams.close();
        }
        if (streams != null) {
            try {
                streams.close();
            } catch (IOException _) {
                // Nothing is lost with a listening socket.
            }
        }
        threads.shutdownNow();
    }

    private void serveDatagrams(DatagramSocket udp) {
        byte[] buffer = new byte[MAX_QUESTION];
        while (!udp.isClosed()) {
            try {
                var packet = new DatagramPacket(buffer, buffer.length);
                udp.receive(packet);
                byte[] question = Arrays.copyOf(packet.getData(), packet.getLength());
                var client = (InetSocketAddress) packet.getSocketAddress();
                admit(
                        client.getAddress(),
                        () -> reply(question, client.getAddress(), this::askByDatagram)
                                .ifPresent(answer -> send(udp, answer, client)));
            } catch (SocketException _) {
                // Closed, or an error the kernel reports about an earlier answer.
            } catch (IOException e) {
                log.atDebug().setCause(e).log("a DNS question was lost");
            }
        }
    }

    private void serveStreams(ServerSocket tcp) {
        while (!tcp.isClosed()) {
            try {
                var socket = tcp.accept();
                if (!admit(socket.getInetAddress(), () -> serveStream(socket))) {
                    socket.close();
                }
            } catch (SocketException _) {
                // Closed, or the client was faster to leave than we to accept.
            } catch (IOException e) {
                log.atDebug().setCause(e).log("a DNS connection was lost");
            }
        }
    }

    private void serveStream(Socket socket) {
        try (socket) {
            socket.setSoTimeout((int) TCP_IDLE.toMillis());
            var in = new DataInputStream(socket.getInputStream());
            var out = new DataOutputStream(socket.getOutputStream());
            while (true) {
                int length = in.readUnsignedShort();
                if (length > MAX_QUESTION) {
                    return;
                }
                byte[] question = in.readNBytes(length);
                var answer = reply(question, socket.getInetAddress(), this::askByStream);
                if (answer.isEmpty()) {
                    return;
                }
                writeFramed(out, answer.get());
            }
        } catch (IOException _) {
            // The end of the connection, in one of its forms.
        }
    }

    /// Runs the work unless too much is open already; whoever is not of ours is not even counted.
    private boolean admit(InetAddress client, Runnable work) {
        if (standing.apply(client) == Standing.STRANGER) {
            return false;
        }
        var mine = open.compute(client, (_, count) -> {
            var counter = count == null ? new AtomicInteger() : count;
            counter.incrementAndGet();
            return counter;
        });
        if (allOpen.incrementAndGet() > MAX_OPEN || mine.get() > MAX_OPEN_PER_CLIENT || threads.isShutdown()) {
            leave(client);
            return false;
        }
        threads.execute(() -> {
            try {
                work.run();
            } finally {
                leave(client);
            }
        });
        return true;
    }

    private void leave(InetAddress client) {
        allOpen.decrementAndGet();
        open.computeIfPresent(client, (_, count) -> count.decrementAndGet() == 0 ? null : count);
    }

    private Optional<byte[]> reply(byte[] bytes, InetAddress client, Transport transport) {
        var parsed = DnsMessage.parse(bytes);
        if (parsed.isEmpty() || !parsed.get().isQuery()) {
            return Optional.empty();
        }
        var question = parsed.get();
        if (question.isLocal()) {
            return Optional.of(question.localAnswer());
        }
        if (standing.apply(client) != Standing.SERVED) {
            return Optional.of(question.failure(DnsMessage.REFUSED));
        }
        return Optional.of(forward(question, transport));
    }

    /// Asks one server after the other; one that fails or refuses is not the last word while there are others.
    private byte[] forward(DnsMessage question, Transport transport) {
        byte[] best = question.failure(DnsMessage.SERVER_FAILURE);
        for (int round = 0; round < ROUNDS; round++) {
            for (var server : resolvers.list().stream().limit(3).toList()) {
                int id = random.nextInt(1 << 16);
                try {
                    byte[] answer = transport.ask(server, question.withId(id));
                    var message = DnsMessage.parse(answer).filter(m -> m.answers(question, id));
                    if (message.isPresent()) {
                        best = message.get().withId(question.id());
                        int code = message.get().responseCode();
                        if (code != DnsMessage.SERVER_FAILURE && code != DnsMessage.REFUSED) {
                            return best;
                        }
                    }
                } catch (IOException _) {
                    // The next server may do better.
                }
            }
        }
        return best;
    }

    private byte[] askByDatagram(InetSocketAddress server, byte[] question) throws IOException {
        try (var socket = new DatagramSocket()) {
            socket.connect(server);
            socket.setSoTimeout((int) patience.toMillis());
            socket.send(new DatagramPacket(question, question.length));
            long end = System.nanoTime() + patience.toNanos();
            var packet = new DatagramPacket(new byte[MAX_DATAGRAM], MAX_DATAGRAM);
            do {
                socket.receive(packet);
                byte[] answer = Arrays.copyOf(packet.getData(), packet.getLength());
                // A wrong id is a late or forged answer: the right one may still come.
                if (answer.length > 2 && answer[0] == question[0] && answer[1] == question[1]) {
                    return answer;
                }
            } while (System.nanoTime() < end);
            throw new IOException("no answer with our id");
        }
    }

    private byte[] askByStream(InetSocketAddress server, byte[] question) throws IOException {
        try (var socket = new Socket()) {
            socket.connect(server, (int) patience.toMillis());
            socket.setSoTimeout((int) patience.toMillis());
            writeFramed(new DataOutputStream(socket.getOutputStream()), question);
            var in = new DataInputStream(socket.getInputStream());
            return in.readNBytes(in.readUnsignedShort());
        }
    }

    private static void writeFramed(DataOutputStream out, byte[] message) throws IOException {
        var framed = new byte[message.length + 2];
        framed[0] = (byte) (message.length >> 8);
        framed[1] = (byte) message.length;
        System.arraycopy(message, 0, framed, 2, message.length);
        out.write(framed);
        out.flush();
    }

    private static void send(DatagramSocket udp, byte[] answer, InetSocketAddress client) {
        try {
            udp.send(new DatagramPacket(answer, answer.length, client));
        } catch (IOException _) {
            // The sandbox is gone, or asks again.
        }
    }
}
