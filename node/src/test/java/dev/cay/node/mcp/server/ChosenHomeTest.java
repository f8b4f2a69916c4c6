package dev.cay.node.mcp.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.cay.mcp.protocol.Message;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.catalog.ServerLaunch;
import dev.cay.node.mcp.catalog.ServerOverride;
import dev.cay.node.mcp.catalog.ServerPlan;
import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@Fast
class ChosenHomeTest {
    private static final LaunchPlan NPM =
            LaunchPlan.of("wiki", new LaunchPlan.Npm("wiki-mcp", "1.2.3", "wiki", List.of()));
    private static final LaunchPlan IMAGE = LaunchPlan.of("wiki", new LaunchPlan.Image("mcp/wiki", List.of()));
    private static final LaunchPlan REMOTE = LaunchPlan.of(
            "wiki",
            new LaunchPlan.Remote(
                    URI.create("https://mcp.wiki.example/?k=secret"),
                    ServerLaunch.Transport.STREAMABLE_HTTP,
                    Map.of("A", "secret")));

    private static final ServerLink.Listener NOBODY = new ServerLink.Listener() {
        @Override
        public void heard(Message message) {}

        @Override
        public void over(String reason) {}
    };

    /// Why a way cannot be prepared, by its word.
    private final Map<String, CayException> unprepared = new ConcurrentHashMap<>();

    /// Why a server cannot be reached, by the word of its way.
    private final Map<String, CayException> unreached = new ConcurrentHashMap<>();

    /// Why a server does not start, by the word of its way.
    private final Map<String, CayException> broken = new ConcurrentHashMap<>();

    /// Ways in which somebody waited for room.
    private final List<String> awaited = new CopyOnWriteArrayList<>();

    private final List<Home> homes = new CopyOnWriteArrayList<>();
    private final AtomicLong nanos = new AtomicLong();
    private final ChosenHome home = chosen(NPM, IMAGE, REMOTE);

    private ChosenHome chosen(LaunchPlan... ways) {
        var plan = new ServerPlan("wiki", "wiki", ServerOverride.Tools.ALL, List.of(), List.of(ways));
        return new ChosenHome(
                plan,
                way -> {
                    var made = new Home(way.start().word());
                    homes.add(made);
                    return made;
                },
                nanos::get);
    }

    private static CayException away(String why) {
        return new CayException(ErrorKind.UNAVAILABLE, why);
    }

    private String connect() {
        return ((Link) home.connect(NOBODY)).way;
    }

    @Test
    void takesTheFirstWayThatCanBePrepared() {
        assertThat(home.ways()).allSatisfy(way -> assertThat(way.taken()).isFalse());
        assertThat(connect()).isEqualTo("npm");
        assertThat(homes).extracting(made -> made.way).containsExactly("npm");
        assertThat(home.ways())
                .extracting(way -> way.plan().way(), ChosenHome.Standing::taken, ChosenHome.Standing::reason)
                .containsExactly(
                        tuple("npm wiki-mcp 1.2.3", true, ""),
                        tuple("image mcp/wiki", false, ""),
                        tuple("remote mcp.wiki.example", false, ""));
        assertThat(home.isRemote()).isFalse();
    }

    @Test
    void takesTheNextWayAndKeepsTheReasonInOneLine() {
        unprepared.put("npm", away("no registry\n  answers"));
        unprepared.put("image", away("the registry cannot be reached"));
        assertThat(connect()).isEqualTo("remote");
        assertThat(home.isRemote()).isTrue();
        assertThat(home.ways())
                .extracting(ChosenHome.Standing::reason)
                .containsExactly("no registry answers", "the registry cannot be reached", "");
        assertThat(homes.get(0).closed && homes.get(1).closed).isTrue();
        unprepared.clear();
        assertThat(connect()).as("the way that was taken is kept").isEqualTo("remote");
    }

    @Test
    void aServerElsewhereThatCannotBeReachedLeavesItsPlaceToTheNextWay() {
        var local = chosen(REMOTE, IMAGE);
        unreached.put("remote", away("no such host"));
        assertThat(((Link) local.connect(NOBODY)).way).isEqualTo("image");
        assertThat(local.ways()).extracting(ChosenHome.Standing::reason).containsExactly("no such host", "");
        var last = chosen(REMOTE);
        assertThat(((Link) last.connect(NOBODY)).way)
                .as("where there is no other way, its own failure is what users read")
                .isEqualTo("remote");
    }

    @Test
    void oneThatWasReachedOnceKeepsItsWay() {
        var local = chosen(REMOTE, IMAGE);
        assertThat(((Link) local.connect(NOBODY)).way).isEqualTo("remote");
        unreached.put("remote", away("no such host"));
        assertThat(((Link) local.connect(NOBODY)).way).isEqualTo("remote");
    }

    @Test
    void aServerThatStartsAndFailsKeepsItsWay() {
        broken.put("npm", new CayException(ErrorKind.FAILED, "it ended: bad token"));
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(this::connect).hasMessage("it ended: bad token");
        }
        assertThat(homes).hasSize(1);
        assertThat(home.ways().getFirst().taken()).isTrue();
    }

    @Test
    void whoCanTakeNoWayHearsWhyOfEach() {
        unprepared.put("npm", away("it does not install"));
        unprepared.put("image", away("the registry cannot be reached"));
        unprepared.put("remote", new CayException(ErrorKind.PERMISSION_DENIED, "this sandbox may not"));
        assertThatThrownBy(this::connect)
                .isInstanceOf(CayException.class)
                .hasMessage("server wiki can be started in none of its ways: npm wiki-mcp 1.2.3: it does not install;"
                        + " image mcp/wiki: the registry cannot be reached; remote mcp.wiki.example: this sandbox may"
                        + " not");
        assertThat(home.ways()).noneMatch(ChosenHome.Standing::taken);
        assertThat(home.sleep()).as("there is nothing to put away").isFalse();
        assertThatThrownBy(() -> chosen(IMAGE).connect(NOBODY)).hasMessage("the registry cannot be reached");
    }

    @Test
    void whatFailedIsTriedAgainOnDemandAndEverLessOften() {
        var only = chosen(IMAGE);
        unprepared.put("image", away("no registry"));
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(only::prepare).hasMessage("no registry");
        }
        assertThatThrownBy(only::prepare).hasMessageContaining("is tried again in 1 s");
        assertThat(homes).hasSize(2);
        unprepared.clear();
        nanos.addAndGet(Duration.ofSeconds(2).toNanos());
        only.prepare();
        assertThat(only.ways().getFirst().taken()).isTrue();
    }

    @Test
    void whatMayBeAllowedAnyTimeIsNotTriedLessOften() {
        var only = chosen(REMOTE);
        unprepared.put("remote", new CayException(ErrorKind.PERMISSION_DENIED, "no internet"));
        for (int i = 0; i < 5; i++) {
            assertThatThrownBy(only::prepare).hasMessage("no internet");
        }
        unprepared.clear();
        only.prepare();
    }

    @Test
    void choosesAnewWhenTheTakenWayCannotBePreparedAnyMore() {
        unprepared.put("npm", away("it does not install"));
        unprepared.put("image", away("no registry"));
        assertThat(connect()).isEqualTo("remote");
        unprepared.remove("image");
        unprepared.put("remote", new CayException(ErrorKind.PERMISSION_DENIED, "no internet"));
        assertThat(connect()).isEqualTo("image");
        assertThat(homes.get(2).cut)
                .as("what is called elsewhere hears no more")
                .isTrue();
        assertThat(home.isRemote()).isFalse();
        assertThat(home.ways())
                .extracting(ChosenHome.Standing::reason)
                .containsExactly("it does not install", "", "no internet");
    }

    @Test
    void manyWhoComeAtOnceTakeOneWay() throws Exception {
        unprepared.put("npm", away("it does not install"));
        var coming = new ArrayList<CompletableFuture<String>>();
        for (int i = 0; i < 16; i++) {
            coming.add(CompletableFuture.supplyAsync(
                    this::connect, work -> Thread.ofVirtual().start(work)));
        }
        for (var each : coming) {
            assertThat(each.get(1, TimeUnit.MINUTES)).isEqualTo("image");
        }
        assertThat(homes).extracting(made -> made.way).containsExactly("npm", "image");
    }

    @Test
    void sleepsAndWakesWithTheWayThatIsTaken() {
        assertThat(home.sleep()).isFalse();
        assertThat(connect()).isEqualTo("npm");
        assertThat(home.sleep()).isTrue();
        assertThat(homes.getFirst().asleep).isTrue();
        home.wake();
        assertThat(homes.getFirst().asleep).isFalse();
    }

    @Test
    void roomIsAwaitedInTheWayThatIsTakenOrThatLacksIt() {
        connect();
        home.awaitRoom(Duration.ofSeconds(1));
        assertThat(awaited).containsExactly("npm");
        var refused = chosen(NPM, IMAGE);
        unprepared.put("npm", away("no registry answers"));
        unprepared.put("image", new CayException(ErrorKind.EXHAUSTED, "there is no room for another one"));
        assertThatThrownBy(() -> refused.connect(NOBODY)).hasMessageContaining("no room for another one");
        refused.awaitRoom(Duration.ofSeconds(1));
        assertThat(awaited).containsExactly("npm", "image");
    }

    @Test
    void tellsWhenAWayIsPrepared() {
        var told = new AtomicInteger();
        home.whenPreparing(told::incrementAndGet);
        unprepared.put("npm", away("no registry answers"));
        connect();
        assertThat(told).hasValue(2);
    }

    @Test
    void oneThatIsClosedWhileItIsPreparedOpensNothingMore() throws Exception {
        var mayFail = new CountDownLatch(1);
        var slow = new ChosenHome(
                ServerPlan.of(NPM),
                way -> {
                    var made = new Home(way.start().word());
                    made.mayPrepare = mayFail;
                    homes.add(made);
                    return made;
                },
                nanos::get);
        unprepared.put("npm", away("the installation was stopped"));
        var connecting = CompletableFuture.supplyAsync(
                () -> slow.connect(NOBODY), work -> Thread.ofVirtual().start(work));
        Await.until("the home prepares its server", () -> !homes.isEmpty() && slow.isPreparing());
        slow.close();
        assertThat(homes.getFirst().closed).isTrue();
        mayFail.countDown();
        assertThatThrownBy(() -> connecting.get(1, TimeUnit.MINUTES)).hasMessageContaining("is being stopped");
        assertThatThrownBy(slow::prepare).hasMessageContaining("is being stopped");
        assertThat(homes).hasSize(1);
    }

    /// A home whose server is an object.
    private final class Home implements ServerHome {
        private final String way;
        private volatile CountDownLatch mayPrepare = new CountDownLatch(0);
        private volatile boolean preparing;
        private volatile Runnable whenPreparing = () -> {};
        private volatile boolean closed;
        private volatile boolean cut;
        private volatile boolean asleep;

        Home(String way) {
            this.way = way;
        }

        @Override
        public void prepare() {
            preparing = true;
            whenPreparing.run();
            try {
                assertThat(mayPrepare.await(1, TimeUnit.MINUTES)).isTrue();
            } catch (InterruptedException e) {
                throw new CayException(ErrorKind.CANCELED, "interrupted", e);
            } finally {
                preparing = false;
            }
            fail(unprepared);
        }

        @Override
        public void reach() {
            fail(unreached);
        }

        private void fail(Map<String, CayException> why) {
            var failure = why.get(way);
            if (failure != null) {
                throw failure;
            }
        }

        @Override
        public ServerLink connect(ServerLink.Listener listener) {
            fail(broken);
            return new Link(way);
        }

        @Override
        public void awaitRoom(Duration limit) {
            awaited.add(way);
        }

        @Override
        public void whenPreparing(Runnable listener) {
            whenPreparing = listener;
        }

        @Override
        public boolean isPreparing() {
            return preparing;
        }

        @Override
        public boolean sleep() {
            asleep = true;
            return true;
        }

        @Override
        public void wake() {
            asleep = false;
        }

        @Override
        public void cut() {
            cut = true;
            close();
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    private record Link(String way) implements ServerLink {
        @Override
        public void send(Message message) {}

        @Override
        public void close() {}
    }
}
