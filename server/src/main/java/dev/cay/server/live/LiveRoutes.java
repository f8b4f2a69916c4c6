package dev.cay.server.live;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Team;
import dev.cay.server.paging.ListPage;
import dev.cay.server.sandbox.SandboxDirectory;
import dev.cay.server.sandbox.SandboxView;
import dev.cay.server.sandbox.Sandboxes;
import dev.cay.wire.CayException;
import dev.cay.wire.TeamId;
import dev.cay.wire.rest.ListedSandbox;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sends a team's sandboxes while they change.
public final class LiveRoutes implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(LiveRoutes.class);
    private static final int MOST_READERS = 100;
    private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

    /// How often a reader gets something, so that both sides notice when the other is gone.
    private static final Duration BEAT = Duration.ofSeconds(15);

    /// After this a reader connects again, with rights that are looked up again.
    private static final int MOST_SECONDS = 600;

    private static final byte[] NOTHING = ": nothing new\n\n".getBytes(StandardCharsets.US_ASCII);

    private final Access access;
    private final Sandboxes sandboxes;
    private final SandboxDirectory directory;
    private final SandboxView view;
    private final Map<TeamId, TeamFeed> feeds = new ConcurrentHashMap<>();
    private volatile boolean closed;

    public LiveRoutes(Access access, Sandboxes sandboxes, SandboxDirectory directory, SandboxView view) {
        this.access = access;
        this.sandboxes = sandboxes;
        this.directory = directory;
        this.view = view;
    }

    public void addTo(Routes routes) {
        routes.on("GET", "/v2/sandboxes/live", access.guard(this::follow));
    }

    private void follow(Team team, Exchange exchange) throws Exception {
        var life = Duration.ofSeconds(ListPage.number(exchange, "seconds", 0, MOST_SECONDS, MOST_SECONDS));
        var feed = enter(team);
        try {
            exchange.with("Content-Type", "text/event-stream")
                    .with("Cache-Control", "no-store")
                    .with("X-Accel-Buffering", "no");
            send(feed, exchange, life);
        } catch (IOException _) {
            // The reader has gone.
        } finally {
            feed.leave();
        }
    }

    private void send(TeamFeed feed, Exchange exchange, Duration life) throws IOException, InterruptedException {
        long end = System.nanoTime() + life.toNanos();
        try (var out = exchange.stream(200)) {
            long known = 0;
            Duration left = BEAT;
            do {
                var part = feed.next(known, left.toMillis());
                known = part.version();
                out.write(part.bytes().length == 0 ? NOTHING : part.bytes());
                out.flush();
                left = Duration.ofNanos(Math.min(BEAT.toNanos(), end - System.nanoTime()));
            } while (!closed && !feed.isEnded() && left.isPositive());
        }
    }

    /// The first reader of a team starts the thread that looks at its sandboxes.
    private TeamFeed enter(Team team) {
        while (true) {
            var fresh = new TeamFeed();
            var feed = feeds.computeIfAbsent(team.id(), _ -> fresh);
            if (!feed.enter(MOST_READERS)) {
                throw CayException.exhausted(
                        "%d readers follow the sandboxes of this team, which is the most".formatted(MOST_READERS),
                        Duration.ofSeconds(30));
            }
            if (feed == fresh) {
                Thread.ofVirtual().name("live-" + team.id()).start(() -> look(team, feed));
                return feed;
            }
            if (feeds.get(team.id()) == feed) {
                return feed;
            }
            // Its thread has just ended.
            feed.leave();
        }
    }

    private void look(Team team, TeamFeed feed) {
        long seen = -1;
        try {
            while (!closed && (feed.isRead() || !isGone(team, feed))) {
                long changes = directory.changes();
                if (changes != seen) {
                    seen = changes;
                    feed.update(sandboxes.list(team).stream().map(view::listed).toList(), ListedSandbox::sandboxID);
                }
                Thread.sleep(LOOK_EVERY);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            log.atError().setCause(e).addKeyValue("team", team.id()).log("the live list of a team ended");
        } finally {
            feeds.remove(team.id(), feed);
            feed.end();
        }
    }

    /// Removes a feed that nobody reads. A reader that enters meanwhile may not see that: the feed stays for such a
    /// reader, even if there is another one by now.
    private boolean isGone(Team team, TeamFeed feed) {
        feeds.remove(team.id(), feed);
        if (feed.isRead()) {
            feeds.putIfAbsent(team.id(), feed);
            return false;
        }
        return true;
    }

    @Override
    public void close() {
        closed = true;
        feeds.values().forEach(TeamFeed::end);
    }
}
