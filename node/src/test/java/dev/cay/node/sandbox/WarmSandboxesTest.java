package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.runtime.Container;
import dev.cay.node.runtime.ContainerRuntime;
import dev.cay.node.runtime.ContainerSpec;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.SandboxKind;
import dev.cay.wire.node.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Sandboxes of a template with an interpreter go on from where it was ready. The interpreter of these tests is a
/// shell that keeps a secret and counts how often it was asked. Needs root.
@Timeout(180)
@NeedsRoot
class WarmSandboxesTest {
    private static final String INTERPRETER =
            "n=0; secret=$RANDOM$RANDOM; trap 'n=$((n+1)); echo $secret $n > /tmp/said' USR1; echo $$ > /tmp/pid;"
                    + " echo ready; while :; do sleep 0.05; done";
    private static final String ASK = "rm -f /tmp/said; kill -USR1 $(cat /tmp/pid) || exit;"
            + " until [ -s /tmp/said ]; do sleep 0.02; done; cat /tmp/said";

    private final AtomicInteger warmed = new AtomicInteger();
    private final AtomicInteger filled = new AtomicInteger();
    private final AtomicBoolean unrestorable = new AtomicBoolean();
    private final AtomicBoolean cold = new AtomicBoolean();
    private TestNode.Place place;
    private TestNode node;

    @BeforeEach
    void open() throws Exception {
        place = TestNode.Place.make();
        node = start();
    }

    @AfterEach
    void close() throws Exception {
        try (var _ = place) {
            node.close();
        }
    }

    private TestNode start() throws IOException {
        return new TestNode(place, Unrestoring::new, this::warm);
    }

    /// The real runtime, which restores nothing while the test says so.
    private final class Unrestoring extends RuntimeAround {
        private Unrestoring(ContainerRuntime real) {
            super(real);
        }

        @Override
        public Container restore(ContainerSpec spec, Path images, String guest) {
            if (unrestorable.get()) {
                throw new CayException(ErrorKind.INTERNAL, "not restored");
            }
            return super.restore(spec, images, guest);
        }

        @Override
        public Container restoreLazily(ContainerSpec spec, Path images, String guest, Optional<Path> first) {
            if (unrestorable.get()) {
                throw new CayException(ErrorKind.INTERNAL, "not restored");
            }
            filled.incrementAndGet();
            return super.restoreLazily(spec, images, guest, first);
        }
    }

    private void warm(OpenSandbox sandbox) throws IOException {
        warmed.incrementAndGet();
        if (cold.get()) {
            throw new CayException(ErrorKind.FAILED, "the interpreter does not come up");
        }
        node.beingWarmed = sandbox;
        try (var events = node.start(TestNode.WARMED.value(), INTERPRETER)) {
            while (!TestNode.event(events).contains("\"stdout\"")) {
                // The start itself is told first.
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        } finally {
            node.beingWarmed = null;
        }
    }

    private SandboxKind kind(String runners) throws IOException {
        var home = Files.createDirectories(
                place.directory().resolve("cache/layers").resolve(runners).resolve("rootfs/opt/cay"));
        Files.writeString(home.resolve("languages"), "shell\n");
        return new SandboxKind(new TemplateId("interpreter"), List.of(runners, "base"), new Resources(1, 256, 200));
    }

    private String create(SandboxKind kind) {
        return create(kind, node.keepers.reserve(kind));
    }

    private String create(SandboxKind kind, SandboxId id) {
        node.keepers.create(new SandboxSpec(
                id,
                kind.templateId(),
                kind.layers(),
                kind.resources(),
                Map.of("MINE", "yes"),
                null,
                "root",
                "/tmp",
                Egress.open(),
                null));
        return id.value();
    }

    private void expect(SandboxKind kind) throws Exception {
        node.keepers.expect(kind);
        NodeTest.await(() -> node.keepers.spares() == 2);
    }

    @Test
    void goOnFromOneThatWasSaved() throws Exception {
        var kind = kind("runners");
        expect(kind);
        assertThat(node.keepers.list()).isEmpty();
        assertThat(node.keepers.snapshots()).as("what servers know of").isEmpty();

        String one = create(kind);
        String[] said = node.run(one, ASK).split(" ");
        assertThat(said[1]).as("asked for the first time").isEqualTo("1");
        assertThat(node.run(one, "echo $MINE $(cat /proc/sys/kernel/hostname)")).isEqualTo("yes " + one);

        String unexpected = create(kind, new SandboxId("unexpected"));
        assertThat(node.run(unexpected, ASK)).as("the same memory, of its own").isEqualTo(said[0] + " 1");
        assertThat(filled).as("memory comes back lazily where a client waits").hasValue(1);
        assertThat(node.run(one, ASK)).isEqualTo(said[0] + " 2");
        assertThat(warmed).hasValue(1);

        node.close();
        node = start();
        expect(kind);
        assertThat(node.run(create(kind), ASK)).isEqualTo(said[0] + " 1");
        assertThat(node.run(one, ASK)).isEqualTo(said[0] + " 3");
        assertThat(warmed).as("once for all daemons").hasValue(1);
    }

    @Test
    void startColdWhenItCannotBeBroughtBackAndGoOnFromAnotherOne() throws Exception {
        var kind = kind("runners");
        expect(kind);
        String secret = node.run(create(kind), ASK).split(" ")[0];

        unrestorable.set(true);
        String second = create(kind, new SandboxId("second"));
        assertThat(node.run(second, "echo $MINE; cat /tmp/pid 2>&1 | tail -c 10"))
                .startsWith("yes")
                .contains("directory");
        unrestorable.set(false);
        NodeTest.await(() -> warmed.get() == 2 && node.saved.warm().find(kind).isPresent());

        String third = create(kind, new SandboxId("third"));
        assertThat(node.run(third, ASK)).endsWith(" 1").doesNotStartWith(secret + " ");
    }

    @Test
    void startColdWhenTheInterpreterDoesNotComeUp() throws Exception {
        cold.set(true);
        var kind = kind("runners");
        expect(kind);
        String id = create(kind);
        assertThat(node.run(id, "echo $MINE; ls /tmp")).isEqualTo("yes");
        // The spare that was taken is replaced, which may be the occasion for the second try.
        assertThat(warmed.get()).isBetween(1, 2);
    }

    @Test
    void goOnFromAnotherOneWhenTheRunnersChange() throws Exception {
        var old = kind("runners");
        expect(old);
        String name = node.saved.warm().name(old);
        var kind = kind("newrunners");
        node.keepers.expect(kind);
        NodeTest.await(() -> node.saved.warm().find(kind).isPresent());
        assertThat(node.run(create(kind), ASK)).endsWith(" 1");
        assertThat(warmed).hasValue(2);
        NodeTest.await(() -> node.saved.store().find(name).isEmpty());
        assertThat(node.run(create(old), "echo $MINE"))
                .as("what is not warm any more")
                .isEqualTo("yes");
    }

    @Test
    void areRemovedWithTheTemplateTheyWereMadeFor() throws Exception {
        var kind = kind("runners");
        expect(kind);
        String name = node.saved.warm().name(kind);
        String one = create(kind);
        var removed = new ArrayList<String>();
        node.node.disk().keep(List.of(kind));
        node.node.disk().collect(() -> List.of(kind), Duration.ZERO, false, each -> removed.add(each.name()));
        assertThat(removed).doesNotContain(name, "runners");
        node.node.disk().collect(List::of, Duration.ZERO, false, each -> removed.add(each.name()));
        assertThat(removed).as("a sandbox stands on the layer").contains(name).doesNotContain("runners");
        assertThat(node.saved.store().find(name)).isEmpty();
        assertThat(node.run(one, "echo $MINE"))
                .as("a sandbox that was made from it")
                .isEqualTo("yes");
    }
}
