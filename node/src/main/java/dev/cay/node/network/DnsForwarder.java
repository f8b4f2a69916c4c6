package dev.cay.node.network;

import dev.cay.life.FairShare;
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
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Answers sandboxes' DNS questions on the gateway address by asking the host's name servers.
///
/// One virtual thread per question. How many a sandbox may have open is bounded, and teams share what all may have;
/// further ones are dropped as a busy network would.
final class DnsForwarder implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(DnsForwarder.class);
    private static final int MAX_QUESTION = 4096;
    private static final int MAX_OPEN = 1024;
    private static final int MAX_OPEN_PER_CLIENT = 64;
    private static final Duration TCP_IDLE = Duration.ofSeconds(10);

    /// The permission of a client.
    enum Standing {
        SERVED,
        LOCAL_NAMES_ONLY,
        STRANGER
    }

    /// What holds for clients.
    interface Rules {
        Standing standing(InetAddress client);

        /// The filter of a client that learns some names only; whoever has one is served.
        Optional<NameFilter> filter(InetAddress client);

        /// Whose share of all open questions those of a client are.
        String team(InetAddress client);

        /// Whether clients without a filter may learn an address.
        boolean shows(InetAddress address);

        /// Whether the operator permits to reach an address. A name of others has no address.
        boolean permits(InetAddress address);

        /// Whether the operator permits to ask for a name.
        boolean permits(String name);

        /// A client was refused a name.
        void refused(InetAddress client, String name);

        /// Whether the name leads to the edge inside.
        boolean isInside(String name);
    }

    private final InetSocketAddress address;
    private final NameServers servers;
    private final Rules rules;
    private final Map<InetAddress, AtomicInteger> open = new ConcurrentHashMap<>();
    private final FairShare allOpen = new FairShare(MAX_OPEN);
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private @Nullable DatagramSocket datagrams;
    private @Nullable ServerSocket streams;

    DnsForwarder(InetSocketAddress address, NameServers servers, Rules rules) {
        this.address = address;
        this.servers = servers;
        this.rules = rules;
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
                // Closing a listening socket loses nothing.
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
                        () -> reply(question, client.getAddress(), false)
                                .ifPresent(answer -> send(udp, answer, client)));
            } catch (SocketException _) {
                // Closed, or an error the kernel reports about an earlier answer.
            } catch (IOException e) {
                log.atDebug().setCause(e).log("a DNS query could not be received");
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
                // The forwarder was closed, or the client disconnected before its connection was accepted.
            } catch (IOException e) {
                log.atDebug().setCause(e).log("a DNS connection failed");
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
                var answer = reply(question, socket.getInetAddress(), true);
                if (answer.isEmpty()) {
                    return;
                }
                DnsMessage.writeFramed(out, answer.get());
            }
        } catch (IOException _) {
            // The end of the connection, in one of its forms.
        }
    }

    /// Runs the work unless too much is open already; clients that are no sandboxes are not even counted.
    private boolean admit(InetAddress client, Runnable work) {
        if (rules.standing(client) == Standing.STRANGER) {
            return false;
        }
        var mine = open.compute(client, (_, count) -> {
            var counter = count == null ? new AtomicInteger() : count;
            counter.incrementAndGet();
            return counter;
        });
        String team = rules.team(client);
        if (mine.get() > MAX_OPEN_PER_CLIENT || threads.isShutdown() || !allOpen.enter(team)) {
            leave(client);
            return false;
        }
        threads.execute(() -> {
            try {
                work.run();
            } finally {
                allOpen.leave(team);
                leave(client);
            }
        });
        return true;
    }

    private void leave(InetAddress client) {
        open.computeIfPresent(client, (_, count) -> count.decrementAndGet() == 0 ? null : count);
    }

    private Optional<byte[]> reply(byte[] bytes, InetAddress client, boolean stream) {
        var parsed = DnsMessage.parse(bytes);
        if (parsed.isEmpty() || !parsed.get().isQuery()) {
            return Optional.empty();
        }
        var question = parsed.get();
        if (question.isLocal() || rules.isInside(question.name())) {
            return Optional.of(question.localAnswer());
        }
        if (!rules.permits(question.name())) {
            rules.refused(client, question.name());
            return Optional.of(question.failure(DnsMessage.REFUSED));
        }
        var filter = rules.filter(client);
        if (filter.isPresent()) {
            return Optional.of(filtered(question, filter.get(), stream));
        }
        if (rules.standing(client) != Standing.SERVED) {
            rules.refused(client, question.name());
            return Optional.of(question.failure(DnsMessage.REFUSED));
        }
        return Optional.of(vetted(question, stream, rules::shows));
    }

    /// The answer of the host's name servers, but for addresses that the operator's ceiling forbids and what they know
    /// of networks that sandboxes do not reach: addresses there, names of such addresses, and all but addresses of
    /// names that are no part of the public DNS.
    private byte[] vetted(DnsMessage question, boolean stream, Predicate<InetAddress> visible) {
        boolean local = PrivateZones.hold(question.name());
        boolean hidden =
                PrivateZones.reversed(question.name()).filter(visible.negate()).isPresent();
        if (hidden || (local && !question.isForAddresses())) {
            return question.failure(DnsMessage.NO_SUCH_NAME);
        }
        byte[] answer = servers.ask(question, stream);
        try {
            var read = DnsMessage.parse(answer).orElseThrow(() -> new IOException("an answer is not understood"));
            var addresses = read.allAddresses();
            if (!addresses.stream().allMatch(visible)
                    || !read.answered().stream().allMatch(rules::permits)) {
                return question.failure(0);
            }
            // The rest of such an answer tells of the zone.
            return local && addresses.isEmpty() ? question.failure(read.responseCode()) : answer;
        } catch (IOException _) {
            return question.failure(DnsMessage.SERVER_FAILURE);
        }
    }

    /// Answers a client whose rules name hosts: addresses of these hosts and nothing else, because every other kind
    /// of record could carry data, or lead past the rules. The forwarded query is made here, with only the client's
    /// name in it.
    private byte[] filtered(DnsMessage question, NameFilter filter, boolean stream) {
        if (!filter.allows(question.name())) {
            return question.failure(DnsMessage.REFUSED);
        }
        if (!filter.addressesOnly()) {
            return question.bindsService() ? question.failure(0) : vetted(question, stream, filter::shows);
        }
        if (!question.wantsAddresses()) {
            return question.failure(0);
        }
        try {
            var found = servers.find(question.name());
            boolean shown = found.addresses().stream().allMatch(filter::shows);
            return shown ? question.answer(found.addresses(), found.seconds()) : question.failure(0);
        } catch (UnknownHostException _) {
            return question.failure(DnsMessage.NO_SUCH_NAME);
        } catch (IOException _) {
            return question.failure(DnsMessage.SERVER_FAILURE);
        }
    }

    private static void send(DatagramSocket udp, byte[] answer, InetSocketAddress client) {
        try {
            udp.send(new DatagramPacket(answer, answer.length, client));
        } catch (IOException _) {
            // The sandbox is gone, or will ask again.
        }
    }
}
