package dev.cay.node.network;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;

/// Asks the host's name servers. Thread-safe.
///
/// Each question travels from a port of its own with an id of its own, so that one sandbox cannot guess its way
/// into another's answer.
final class NameServers {
    private static final int MAX_DATAGRAM = 16_384;
    private static final int ROUNDS = 2;
    private static final int ASKED = 3;

    /// Asks one name server once.
    private interface Transport {
        byte[] ask(InetSocketAddress server, byte[] question) throws IOException;
    }

    private final Resolvers resolvers;
    private final Duration patience;
    private final SecureRandom random = new SecureRandom();

    NameServers(Resolvers resolvers) {
        this(resolvers, Duration.ofSeconds(2));
    }

    /// @param patience how long one name server may take before the next is asked
    NameServers(Resolvers resolvers, Duration patience) {
        this.resolvers = resolvers;
        this.patience = patience;
    }

    /// The answer to a client's question, with the client's id.
    byte[] ask(DnsMessage question, boolean stream) {
        return ask(question, stream ? this::askByStream : this::askByDatagram);
    }

    /// The IPv4 addresses of a name.
    ///
    /// @throws UnknownHostException if there are none
    DnsMessage.Found find(String name) throws IOException {
        var question = DnsMessage.question(name, DnsMessage.TYPE_A);
        var answer = parse(ask(question, false));
        if (answer.isTruncated()) {
            answer = parse(ask(question, true));
        }
        if (answer.responseCode() != 0 && answer.responseCode() != DnsMessage.NO_SUCH_NAME) {
            throw new IOException("the name servers do not answer for " + name);
        }
        var found = answer.addresses();
        if (found.addresses().isEmpty()) {
            throw new UnknownHostException(name);
        }
        return found;
    }

    private static DnsMessage parse(byte[] answer) throws IOException {
        return DnsMessage.parse(answer).orElseThrow(() -> new IOException("a name server's answer is not understood"));
    }

    /// Asks one server after the other; one that fails or refuses is not the last word while there are others.
    private byte[] ask(DnsMessage question, Transport transport) {
        byte[] best = question.failure(DnsMessage.SERVER_FAILURE);
        for (int round = 0; round < ROUNDS; round++) {
            for (var server : resolvers.list().stream().limit(ASKED).toList()) {
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
            DnsMessage.writeFramed(new DataOutputStream(socket.getOutputStream()), question);
            var in = new DataInputStream(socket.getInputStream());
            return in.readNBytes(in.readUnsignedShort());
        }
    }
}
