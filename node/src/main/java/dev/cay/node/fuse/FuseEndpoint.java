package dev.cay.node.fuse;

import dev.cay.http.Exchange;
import dev.cay.http.Handler;
import dev.cay.http.Routes;
import dev.cay.node.host.Slot;
import dev.cay.node.runtime.Container;
import dev.cay.node.runtime.FuseMount;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TemplateId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;

/// Handles mount requests of the program `fusermount3` inside a sandbox. Only reachable from inside, by every user
/// there; the kernel says which user it is when the node answers. Once it is closed nothing is mounted any more, so a
/// pause finds all mounts. Thread-safe.
public final class FuseEndpoint implements Handler, AutoCloseable {
    static final int MOST = 8;
    private static final String PATH = "/fuse/";
    private static final int LARGEST = 16 << 10;
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Pattern ASKER = Pattern.compile("cay-fuse-[0-9a-f]{32}");

    private final FuseMounter mounter;
    private final TemplateId template;
    private final Container container;
    private final Slot slot;
    private final ReentrantLock turn = new ReentrantLock();
    private final Routes routes =
            new Routes().on("POST", PATH + "mount", this::mount).on("POST", PATH + "unmount", this::unmount);
    private boolean closed;

    public FuseEndpoint(FuseMounter mounter, TemplateId template, Container container, Slot slot) {
        this.mounter = mounter;
        this.template = template;
        this.container = container;
        this.slot = slot;
    }

    public boolean handles(Exchange exchange) {
        return exchange.path().startsWith(PATH);
    }

    @Override
    public void handle(Exchange exchange) throws Exception {
        routes.handle(exchange);
    }

    /// The program's request: its socket address, the path, and options or `lazy`.
    private record Wish(String asker, FusePlace place, String rest) {
        /// A page that a browser shows in here cannot send such a body without asking first, which is not answered.
        static Wish read(Exchange exchange) throws IOException {
            if (!"application/x-cay-fuse".equals(exchange.header("Content-Type"))) {
                throw new CayException(ErrorKind.INVALID_ARGUMENT, "Content-Type must be application/x-cay-fuse");
            }
            byte[] body = exchange.body(PATIENCE).readNBytes(LARGEST + 1);
            String[] fields = new String(body, StandardCharsets.UTF_8).split("\0", -1);
            if (body.length > LARGEST
                    || fields.length != 3
                    || !ASKER.matcher(fields[0]).matches()) {
                throw new CayException(ErrorKind.INVALID_ARGUMENT, "the request is not one of fusermount3");
            }
            return new Wish(fields[0], new FusePlace(fields[1]), fields[2]);
        }
    }

    private void mount(Exchange exchange) throws IOException {
        var wish = Wish.read(exchange);
        if (!mounter.allows(template)) {
            throw new CayException(
                    ErrorKind.PERMISSION_DENIED,
                    "sandboxes of template %s may not use FUSE; the operator allows it with sandboxes.fuseTemplates"
                            .formatted(template));
        }
        var options = FuseOptions.read(wish.rest());
        inTurn(() -> {
            var mounts = FuseMount.of(container);
            wish.place().requireFree(mounts);
            if (mounts.size() >= MOST) {
                throw new CayException(
                        ErrorKind.EXHAUSTED,
                        "the sandbox has %d FUSE file systems, which is the most; unmount one".formatted(MOST));
            }
            mounter.mount(container, slot, asker(exchange, wish), wish.place(), options);
        });
        exchange.sendJson(200, Map.of("status", "mounted"));
    }

    private void unmount(Exchange exchange) throws IOException {
        var wish = Wish.read(exchange);
        inTurn(() -> {
            String path = wish.place().path();
            var mount = FuseMount.of(container).stream()
                    .filter(found -> found.path().equals(path))
                    .toList();
            if (mount.isEmpty()) {
                throw new CayException(ErrorKind.NOT_FOUND, "there is no FUSE file system at %s".formatted(path));
            }
            mounter.unmount(
                    container,
                    slot,
                    asker(exchange, wish),
                    mount.getLast(),
                    wish.rest().equals("lazy"));
        });
        exchange.sendJson(200, Map.of("status", "unmounted"));
    }

    private FuseAsker asker(Exchange exchange, Wish wish) {
        return FuseAsker.find(container, wish.asker(), exchange.remote(), exchange.localPort());
    }

    /// One at a time, so that the limit holds.
    private void inTurn(Runnable action) {
        try {
            if (!turn.tryLock(PATIENCE.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new CayException(ErrorKind.UNAVAILABLE, "others in this sandbox are mounting; try again");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted while others were mounting", e);
        }
        try {
            if (closed) {
                throw new CayException(ErrorKind.UNAVAILABLE, "the sandbox is being stopped");
            }
            action.run();
        } finally {
            turn.unlock();
        }
    }

    /// Waits for a mount in progress, which has a time limit.
    @Override
    public void close() {
        turn.lock();
        try {
            closed = true;
        } finally {
            turn.unlock();
        }
    }
}
