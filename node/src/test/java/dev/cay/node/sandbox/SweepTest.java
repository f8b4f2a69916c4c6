package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.host.NetworkLimits;
import dev.cay.node.host.Programs;
import dev.cay.node.runtime.TestHost;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Plants on the host whatever a crash could leave of sandboxes. A second instance beside it is the control: nothing of
/// it may be touched.
@Timeout(180)
@NeedsRoot
class SweepTest {
    private final Programs programs = Programs.ofHost();
    private final List<Process> started = new ArrayList<>();
    private TestNode.Place place;
    private TestNode.Place elsewhere;
    private TestNode node;
    private TestNode other;

    @BeforeEach
    void open() throws Exception {
        place = TestNode.Place.make();
        elsewhere = TestNode.Place.make();
        node = new TestNode(place);
        other = new TestNode(elsewhere);
    }

    @AfterEach
    void close() throws Exception {
        started.forEach(Process::destroyForcibly);
        try (var _ = place;
                var _ = elsewhere;
                var _ = node;
                var _ = other) {
            // Nothing to do but to close them, whichever there are.
        }
    }

    @Test
    void aStartRemovesWhatNobodyClaims() throws Exception {
        node.keepers.create(TestNode.spec("alive"));
        other.keepers.create(TestNode.spec("alive"));
        other.keepers.setEgress(new SandboxId("alive"), Egress.closed());
        var foreign = planted(elsewhere, other);
        node.close();
        var ours = planted(place, node);
        assertThat(Stream.concat(ours.stream(), foreign.stream()).filter(this::isThere))
                .as("all that was planted")
                .hasSize(ours.size() + foreign.size());

        node = new TestNode(place);

        assertThat(ours.stream().filter(this::isThere)).as("left").isEmpty();
        assertThat(foreign.stream().filter(thing -> !isThere(thing)))
                .as("the other instance's, gone")
                .isEmpty();
        assertThat(node.run("alive", "echo well")).isEqualTo("well");
        assertThat(other.run("alive", "echo well")).isEqualTo("well");
    }

    @Test
    void whatIsLeftWhileWeRunGoesTheSecondTimeItIsSeen() throws Exception {
        node.keepers.create(TestNode.spec("alive"));
        var left = List.of(
                "path " + Files.createDirectories(place.directory().resolve("run/bundles/orphan")),
                "path " + node.host.pool().create(new SandboxId("orphan"), 20),
                link(place, "zz"));
        node.keepers.tidy();
        assertThat(left.stream().filter(this::isThere)).hasSize(3);
        node.keepers.tidy();
        assertThat(left.stream().filter(this::isThere)).isEmpty();
        node.keepers.tidy();
        assertThat(node.run("alive", "echo well")).isEqualTo("well");
    }

    @Test
    void aSandboxIsTakenUpWithTheGuestItWasStartedWith() throws Exception {
        for (int version : List.of(0, 7)) {
            var program = guest(version);
            node.close();
            node = new TestNode(
                    place,
                    NetworkLimits.DEFAULT,
                    runtime -> runtime,
                    TestNode.EDGE_PORT,
                    parent -> unchecked(parent, program));
            String id = "guest" + version;
            node.keepers.create(TestNode.spec(id));
            assertThat(node.run(id, "echo $$ > /tmp/mark; echo by $(cat /tmp/mark | wc -l)"))
                    .isEqualTo("by 1");
            assertThat(guests()).hasSizeBetween(1, 2);
            node.close();

            node = new TestNode(place);
            assertThat(guests()).as("that of the sandbox, and the new one").hasSize(2);
            assertThat(node.run(id, "cat /tmp/mark | wc -l")).isEqualTo("1");
            node.keepers.kill(new SandboxId(id));
            node.close();

            node = new TestNode(place);
            assertThat(guests()).as("only what is used").hasSize(1);
        }
    }

    private static dev.cay.node.runtime.GuestProgram unchecked(Path parent, Path program) {
        try {
            return TestHost.otherGuest(parent, program);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private Path guest(int version) throws IOException {
        var program = place.directory().resolve("guest-" + version);
        var command = new ArrayList<>(
                List.of("gcc", "-std=gnu17", "-O1", "-static", "-DVERSION=" + version, "-o", program.toString()));
        try (var sources = Files.newDirectoryStream(Path.of("../guest/src"), "*.c")) {
            sources.forEach(source -> command.add(source.toString()));
        }
        programs.require(TestNode.LIMIT, "", command);
        return program;
    }

    private List<String> guests() throws IOException {
        try (var found = Files.list(place.directory().resolve("state/guest"))) {
            return found.map(path -> path.getFileName().toString()).toList();
        }
    }

    private List<String> planted(TestNode.Place here, TestNode owner) throws Exception {
        var things = new ArrayList<String>();
        var run = here.directory().resolve("run");
        if (owner == node) {
            var bundle = Files.createDirectories(run.resolve("bundles/orphan1/root"));
            programs.require(TestNode.LIMIT, "mount", "-t", "tmpfs", "cay-orphan", bundle.toString());
            Files.writeString(bundle.resolve("file"), "not to be walked into");
            things.add("mount " + bundle);
            things.add("path " + run.resolve("bundles/orphan1"));
            things.add("path " + Files.createDirectories(run.resolve("runc/orphan2")));
            var layer = owner.host.pool().create(new SandboxId("orphan3"), 20);
            programs.require(
                    TestNode.LIMIT,
                    "mount",
                    "-t",
                    "tmpfs",
                    "cay-orphan",
                    layer.resolve("upper").toString());
            things.add("mount " + layer.resolve("upper"));
            things.add("path " + layer);
            var notes = Files.createDirectories(here.records().resolve("orphan4"));
            Files.writeString(notes.resolve("sandbox.json"), "{{{");
            things.add("path " + notes);
            things.add(process(here));
            things.add(element(here, "33"));
            things.add(address(here, 77));
        } else {
            things.add("path " + owner.host.pool().layer(new SandboxId("alive")));
            things.add("path " + here.records().resolve("alive"));
            things.add("address %s".formatted(here.plan().gateway()));
            things.add("element %s %s"
                    .formatted(here.plan().firewallTable(), here.plan().claim(0).veth()));
        }
        things.add(link(here, "zz"));
        return things;
    }

    /// A process in a cgroup of ours that no sandbox has.
    private String process(TestNode.Place here) throws IOException {
        var process = new ProcessBuilder("sleep", "600").start();
        started.add(process);
        try (var hierarchies = Files.list(Path.of("/sys/fs/cgroup"))) {
            var parent = Stream.concat(Stream.of(Path.of("/sys/fs/cgroup")), hierarchies)
                    .map(root -> root.resolve(here.plan().cgroup().substring(1)))
                    .filter(Files::isDirectory)
                    .findFirst()
                    .orElseThrow();
            var group = Files.createDirectory(parent.resolve("orphan5"));
            Files.writeString(group.resolve("cgroup.procs"), Long.toString(process.pid()));
        }
        return "process " + process.pid();
    }

    private String link(TestNode.Place here, String suffix) {
        String name = here.plan().interfacePrefix() + suffix;
        programs.require(TestNode.LIMIT, "ip", "link", "add", name, "type", "veth", "peer", "name", "p" + name);
        return "path /sys/class/net/" + name;
    }

    private String element(TestNode.Place here, String suffix) {
        String name = here.plan().interfacePrefix() + suffix;
        programs.require(
                TestNode.LIMIT,
                "nft",
                "add element inet %s noinet { \"%s\" }".formatted(here.plan().firewallTable(), name));
        return "element %s %s".formatted(here.plan().firewallTable(), name);
    }

    private String address(TestNode.Place here, int last) {
        String address = here.range().replaceFirst("0/24$", Integer.toString(last));
        programs.require(TestNode.LIMIT, "ip", "address", "add", address + "/32", "dev", "lo");
        return "address " + address;
    }

    private boolean isThere(String thing) {
        String[] words = thing.split(" ");
        return switch (words[0]) {
            case "path" -> Files.exists(Path.of(words[1]));
            case "mount" ->
                programs.require(TestNode.LIMIT, "cat", "/proc/mounts").contains(" " + words[1] + " ");
            case "process" -> {
                var process = started.stream()
                        .filter(each -> each.pid() == Long.parseLong(words[1]))
                        .findFirst()
                        .orElseThrow();
                try {
                    yield !process.waitFor(200, TimeUnit.MILLISECONDS);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            case "element" ->
                programs.require(TestNode.LIMIT, "nft", "list", "set", "inet", words[1], "noinet")
                        .contains("\"" + words[2] + "\"");
            default ->
                programs.require(TestNode.LIMIT, "ip", "-o", "-4", "address", "show", "dev", "lo")
                        .contains(" " + words[1] + "/");
        };
    }
}
