package dev.cay.node.egress;

import dev.cay.wire.node.EgressProxy;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One connection of a sandbox through the node: reads its first bytes, judges, connects, and relays.
final class EgressConnection implements PathSandbox.Open, HttpBridge.Bridged {
    private static final Logger log = LoggerFactory.getLogger(EgressConnection.class);

    /// Time limit for clients that must show a name.
    private static final Duration MUST_SPEAK = Duration.ofSeconds(10);

    /// Time limit for clients that may be silent. In some protocols the server speaks first.
    private static final Duration MAY_SPEAK = Duration.ofMillis(300);

    private static final Duration IDLE = Duration.ofHours(1);

    /// Most clients send their first message in so many bytes.
    private static final int SMALL = 2048;

    /// How often the first bytes are parsed: a client may send them one by one, and each parse costs the node time.
    private static final int LOOKS = 256;

    /// Hosts of requests on one connection that are remembered; with more of them, the connection is cut when
    /// rules change.
    private static final int HOSTS = 100;

    private static final byte[] NOTHING = {};
    private static final AtomicLong NUMBERS = new AtomicLong();

    private final String key = "egress-" + NUMBERS.incrementAndGet();
    private final PathSandbox sandbox;
    private final InetSocketAddress destination;
    private final EgressSocket guest;
    private final PathParts parts;
    private final long began = System.nanoTime();
    private byte[] buffer = new byte[SMALL];
    private int buffered;
    private int looks;
    private final Set<String> hosts = ConcurrentHashMap.newKeySet();
    private final Preparation prepared = new Preparation();
    private volatile @Nullable FirstBytes first;
    private volatile @Nullable Route route;
    private volatile @Nullable EgressProxy proxy;
    private volatile @Nullable EgressSocket server;
    private volatile @Nullable Relay relay;
    private volatile Openings.Opening opening = Openings.NONE;
    private volatile boolean cut;

    EgressConnection(PathSandbox sandbox, InetSocketAddress destination, EgressSocket guest, PathParts parts) {
        this.sandbox = sandbox;
        this.destination = destination;
        this.guest = guest;
        this.parts = parts;
    }

    /// Names it among all connections of this daemon.
    @Override
    public String key() {
        return key;
    }

    /// Hosts that requests on it were for.
    @Override
    public Set<String> hosts() {
        return Set.copyOf(hosts);
    }

    @Override
    public PathSandbox sandbox() {
        return sandbox;
    }

    /// The destination that the sandbox chose.
    @Override
    public InetSocketAddress destination() {
        return destination;
    }

    @Override
    public Route route() {
        var now = route;
        return now == null ? Route.REFUSED : now;
    }

    @Override
    public Preparation prepared() {
        return prepared;
    }

    @Override
    public boolean over() {
        return !guest.isOpen();
    }

    /// The host for which TLS was opened; without a name it is the address.
    @Override
    public String host() {
        return first instanceof FirstBytes.Tls(String name) && name != null
                ? name
                : destination.getAddress().getHostAddress();
    }

    @Override
    public X509Certificate certificate() {
        return opening.certificate();
    }

    @Override
    public void opened() {
        opening.close();
    }

    EgressSocket guest() {
        return guest;
    }

    /// Whether it goes nowhere before the client has sent something.
    boolean mustSpeak() {
        var rules = sandbox.rules();
        return rules.hasNames() && !byAddress(rules);
    }

    /// Whether a client that must speak has been silent for too long.
    boolean late() {
        return System.nanoTime() - began > MUST_SPEAK.toNanos();
    }

    private boolean byAddress(EgressRules rules) {
        return rules.allowsAddress(destination) && parts.upstreams().permits(destination);
    }

    private Route route(EgressRules rules, FirstBytes seen) {
        return rules.route(seen, destination, () -> parts.upstreams().permits(destination));
    }

    /// Runs to the end of the connection.
    void run() {
        try {
            look();
        } catch (IOException e) {
            log.atDebug()
                    .setCause(e)
                    .addKeyValue("sandbox", sandbox.id())
                    .log("a connection on the egress path ended with an error");
            cut();
        } finally {
            var other = server;
            if (other != null) {
                other.close();
            }
            guest.close();
            opened();
            if (route().readsHttp()) {
                parts.gate().end(this);
            }
        }
    }

    /// Judges again by other rules, and cuts the connection if it would not be where it is. A connection that
    /// is not judged yet will be judged by them.
    @Override
    public void review(EgressRules changed) {
        var seen = first;
        var now = route;
        if (seen == null || now == null) {
            return;
        }
        boolean same =
                route(changed, seen) == now && Objects.equals(changed.egress().proxy(), proxy);
        if (!same || (now == Route.REQUESTS && !requestsAllowed(changed))) {
            cut();
        }
    }

    /// Requests under way may be for a host that is not allowed any more.
    private boolean requestsAllowed(EgressRules changed) {
        return hosts.size() < HOSTS && hosts.stream().allMatch(host -> changed.allowsName(host, destination.getPort()));
    }

    /// Remembers that a request for this host is on the connection.
    @Override
    public void asks(String host) {
        if (hosts.size() < HOSTS) {
            hosts.add(host);
        }
    }

    /// The sandbox sees a reset.
    @Override
    public void cut() {
        cut = true;
        var other = server;
        if (other != null) {
            other.cut();
        }
        guest.cut();
        var moving = relay;
        if (moving != null) {
            moving.stop();
        }
    }

    private void look() throws IOException {
        var rules = sandbox.rules();
        boolean byAddress = byAddress(rules);
        boolean mayWait = byAddress ? rules.looks() : rules.hasNames();
        var seen = mayWait ? firstBytes(byAddress ? MAY_SPEAK : MUST_SPEAK) : new FirstBytes.Other();
        judge(rules, seen);
        // The rules may have changed meanwhile.
        var newest = sandbox.rules();
        if (newest != rules) {
            review(newest);
        }
        if (cut) {
            return;
        }
        go(newest);
    }

    private void judge(EgressRules rules, FirstBytes seen) {
        first = seen;
        proxy = rules.egress().proxy();
        route = route(rules, seen);
    }

    /// The client's first bytes; `Unfinished` when it sends nothing, or not enough, in time.
    private FirstBytes firstBytes(Duration limit) throws IOException {
        long end = began + limit.toNanos();
        FirstBytes seen = new FirstBytes.Unfinished();
        while (seen instanceof FirstBytes.Unfinished) {
            try {
                seen = more(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
            } catch (SocketTimeoutException _) {
                return seen;
            }
        }
        return seen;
    }

    /// Reads more, and parses everything that was read.
    private FirstBytes more(Duration limit) throws IOException {
        if (buffered == FirstBytes.MOST || ++looks > LOOKS) {
            return FirstBytes.enough(buffer, buffered);
        }
        if (buffered == buffer.length) {
            buffer = Arrays.copyOf(buffer, Math.min(FirstBytes.MOST, 2 * buffer.length));
        }
        int count = guest.read(buffer, buffered, buffer.length - buffered, limit);
        if (count < 0) {
            return FirstBytes.enough(buffer, buffered);
        }
        buffered += count;
        return FirstBytes.of(buffer, buffered);
    }

    private void go(EgressRules rules) throws IOException {
        switch (route()) {
            case REFUSED -> {
                note(false, destination);
                cut();
            }
            case REQUESTS -> relay(parts.bridge().connect(this), new LongAdder(), new LongAdder());
            case OPENED_NAME, OPENED_ADDRESS -> {
                var row = noteOpened(rules);
                opening = parts.openings().begin(sandbox.team(), host());
                if (cut) {
                    return;
                }
                parts.gate().prepare(this);
                relay(parts.bridge().connect(this), row);
            }
            case NAME -> {
                var places = places();
                leave(places, rules, note(true, places.getFirst()));
            }
            case ADDRESS -> leave(List.of(destination), rules, note(true, destination));
        }
    }

    /// Connects to the first of the addresses that accepts. The client's first bytes are sent by the relay, so that no
    /// thread has to be woken in between.
    private void leave(List<InetSocketAddress> places, EgressRules rules, EgressLog.Row row) throws IOException {
        if (rules.egress().proxy() != null || first instanceof FirstBytes.Unfinished) {
            relay(parts.upstreams().connect(places, rules.egress()), row);
            return;
        }
        IOException failed = new UnknownHostException("no address");
        for (var place : places.subList(0, Math.min(places.size(), Upstreams.TRIED))) {
            try {
                relay(parts.upstreams().begin(place), row);
                return;
            } catch (ConnectException | SocketTimeoutException e) {
                if (cut) {
                    throw e;
                }
                failed = e;
            }
        }
        throw failed;
    }

    private List<InetSocketAddress> places() throws IOException {
        try {
            return parts.upstreams().find(host(), destination.getPort());
        } catch (IOException e) {
            note(!(e instanceof Upstreams.Closed), destination);
            throw e;
        }
    }

    /// Notes the address that requests go to, and not the one that the sandbox chose. Where that
    /// address is closed, the answers to the requests say so.
    private EgressLog.Row noteOpened(EgressRules rules) {
        try {
            return note(true, parts.gate().places(this, rules).getFirst());
        } catch (IOException e) {
            return note(!(e instanceof Upstreams.Closed), destination);
        }
    }

    private EgressLog.Row note(boolean allowed, InetSocketAddress place) {
        String match = "none";
        if (allowed && route().byName()) {
            match = "domain";
        } else if (sandbox.rules().namesAddress(destination)) {
            match = "address";
        }
        var seen = first;
        return sandbox.log()
                .note(
                        seen == null ? "tcp" : seen.protocol(),
                        seen == null ? null : seen.host(),
                        place.getAddress().getHostAddress(),
                        place.getPort(),
                        allowed,
                        match);
    }

    private void relay(EgressSocket to, EgressLog.Row row) throws IOException {
        relay(to, row.sent, row.received);
    }

    private void relay(EgressSocket to, LongAdder sent, LongAdder received) throws IOException {
        var moving = new Relay(guest, to, parts.relays().pipes(), this::cut, sent, received);
        server = to;
        relay = moving;
        if (cut) {
            to.cut();
            return;
        }
        var loop = parts.relays().next();
        try {
            if (first instanceof FirstBytes.Unfinished) {
                pass(to, 0, sent);
                moving.send(NOTHING);
                loop.take(moving);
                while (first instanceof FirstBytes.Unfinished) {
                    lookAgain(to, sent);
                }
                moving.sendRest();
                loop.again(moving);
            } else {
                moving.send(Arrays.copyOf(buffer, buffered));
                moving.sendRest();
                loop.take(moving);
            }
            moving.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            loop.forget(moving);
            if (!moving.connected()) {
                to.close();
            }
        }
    }

    /// Judges again a client that was silent at first. If its name now leads elsewhere, it is cut, because the
    /// connection was already made.
    private void lookAgain(EgressSocket to, LongAdder sent) throws IOException {
        int before = buffered;
        var seen = more(IDLE);
        if (route(sandbox.rules(), seen) != route) {
            throw new IOException("the client spoke too late");
        }
        first = seen;
        pass(to, before, sent);
        if (buffered == before) {
            to.shutdownOutput();
        }
    }

    private void pass(EgressSocket to, int from, LongAdder sent) throws IOException {
        if (buffered > from) {
            to.write(ByteBuffer.wrap(buffer, from, buffered - from));
            sent.add(buffered - from);
        }
    }
}
