package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.host.Programs;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.repository.RepositoryTokens;
import dev.cay.node.mcp.server.ServerHome;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/// Servers from Git repositories, which a git server of the test has.
@NeedsRoot
@Timeout(240)
class RepositoryServersTest extends ServerHomeTest {
    private static final String TOKEN = "planted-7d1f0e52c9";
    private static final SandboxId SECOND = new SandboxId("second");
    private static final SandboxId STRANGER = new SandboxId("stranger");
    private static final String SERVER = """
            const fs = require('fs');
            const read = name => fs.existsSync(name) ? fs.readFileSync(name, 'utf8').trim() : null;
            console.log(JSON.stringify({jsonrpc: '2.0', method: 'up', params: {
              version: read('version.txt'), installed: read('installed.txt'), seen: read('seen.txt'),
              cwd: process.cwd(), environment: process.env,
            }}));
            setInterval(() => {}, 1000);
            """;

    private OwnGit git;

    @BeforeEach
    void serve() throws Exception {
        git = new OwnGit(place.directory().resolve("git"), TOKEN);
        node.insideEdge = git;
    }

    /// The stranger's team is another one.
    @Override
    SandboxSpec spec(String id) {
        return TestNode.spec(id).withEnvironment(Map.of("E2B_TEAM_ID", id.equals(STRANGER.value()) ? "b" : "a"));
    }

    @Override
    RepositoryTokens tokens() throws IOException {
        var file = Files.writeString(place.directory().resolve("token"), TOKEN + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        return new RepositoryTokens(OwnGit.URL, List.of("github/secret/*@a=" + file, "github/moved/tool=" + file));
    }

    private static LaunchPlan repository(String name, String install, Map<String, String> environment) {
        var start = new LaunchPlan.Repository(
                "github/" + name, OwnGit.URL + name + ".git", install, List.of("node", "server.js"));
        var plan = plan(start, environment);
        return new LaunchPlan(
                start.name(), start.name(), start, plan.environment(), List.of(), null, plan.network(), true, false);
    }

    private static LaunchPlan repository(String name, String install) {
        return repository(name, install, Map.of());
    }

    private static JsonNode said(ServerHome home) throws Exception {
        var client = new Client();
        try (var _ = home.connect(client)) {
            return client.next().tree().path("params");
        }
    }

    /// As a gateway does it when nobody was connected for a while.
    private JsonNode startedBy(SandboxId owner, LaunchPlan plan) throws Exception {
        nanos.addAndGet(Duration.ofMinutes(1).toNanos());
        try (var home = homes.open(owner, plan)) {
            return said(home);
        }
    }

    private List<Path> layers() throws IOException {
        try (var all = Files.list(place.directory().resolve("cache/layers"))) {
            return all.filter(
                            layer -> layer.getFileName().toString().matches("\\.?(unfinished-)?mcp-.*[0-9a-f]{16,}.*"))
                    .filter(Files::isDirectory)
                    .sorted()
                    .toList();
        }
    }

    @Test
    void areInstalledOnceForAllSandboxesOfATeam() throws Exception {
        git.commit("acme/tool", Map.of("server.js", SERVER, "version.txt", "1"));
        String install = "echo once >> installed.txt; env > seen.txt; echo noise; echo more noise >&2";
        var plan = repository("acme/tool", install, Map.of("GREETING", "planted-greeting"));
        try (var home = open(plan)) {
            var first = said(home);
            assertThat(first.path("version").asString()).isEqualTo("1");
            assertThat(first.path("installed").asString()).isEqualTo("once");
            assertThat(first.path("cwd").asString()).isEqualTo("/home/user/server");
            assertThat(first.path("environment").path("GREETING").asString()).isEqualTo("planted-greeting");
            assertThat(first.path("seen").asString())
                    .contains("HOME=/home/user")
                    .doesNotContain("GREETING");
            Await.until("the end of the idle room", () -> sides().isEmpty());
            nanos.addAndGet(Duration.ofMinutes(1).toNanos());
            assertThat(said(home).path("installed").asString()).isEqualTo("once");
        }
        var made = layers();
        assertThat(made).hasSize(2);
        node.keepers.create(spec(SECOND.value()));
        assertThat(startedBy(SECOND, plan).path("installed").asString()).isEqualTo("once");
        assertThat(git.fetches).hasValue(1);
        assertThat(layers()).isEqualTo(made);
        assertThat(filesWith("planted-greeting")).isEmpty();
    }

    @Test
    void noOtherTeamGetsALayer() throws Exception {
        git.commit("acme/tool", Map.of("server.js", SERVER));
        node.keepers.create(spec(STRANGER.value()));
        var plan = repository("acme/tool", "echo mine > installed.txt");
        startedBy(OWNER, plan);
        var made = layers();
        startedBy(STRANGER, plan);
        assertThat(git.fetches).hasValue(2);
        assertThat(layers()).hasSize(4).containsAll(made);
    }

    @Test
    void aNewerCommitIsTakenAtTheNextStart() throws Exception {
        git.commit("acme/tool", Map.of("server.js", SERVER, "version.txt", "1"));
        var plan = repository("acme/tool", "cp version.txt installed.txt");
        assertThat(startedBy(OWNER, plan).path("version").asString()).isEqualTo("1");
        git.commit("acme/tool", Map.of("version.txt", "2"));
        var second = startedBy(OWNER, plan);
        assertThat(second.path("version").asString()).isEqualTo("2");
        assertThat(second.path("installed").asString()).isEqualTo("2");
    }

    @Test
    void theLastCommitIsTakenWhileTheHostDoesNotAnswer() throws Exception {
        git.commit("acme/tool", Map.of("server.js", SERVER, "version.txt", "1"));
        var plan = repository("acme/tool", "true");
        git.down = true;
        assertThatThrownBy(() -> startedBy(OWNER, plan))
                .hasMessageContaining("acme/tool.git cannot be cloned; is it there, and public? fatal: ");
        git.down = false;
        startedBy(OWNER, plan);

        homes.close();
        node.close();
        node = new TestNode(place);
        git.down = true;
        node.insideEdge = git;
        homes = homes(node, IDLE);
        try (var home = open(plan)) {
            assertThat(said(home).path("version").asString()).isEqualTo("1");
            assertThat(home.warning())
                    .matches("the newest commit is not known, and commit [0-9a-f]{12} is used, .*: https://git.*");
        }
        git.down = false;
        git.delete("acme/tool");
        assertThatThrownBy(() -> startedBy(OWNER, plan))
                .as("one that is taken away is not started")
                .hasMessageContaining("acme/tool.git cannot be cloned; is it there, and public? ");
    }

    @Test
    void theOperatorsTokenReachesGitAlone() throws Exception {
        git.commit("secret/tool", Map.of("server.js", SERVER, "version.txt", "private"));
        String install = """
                env > seen.txt; cat /proc/[0-9]*/environ >> seen.txt 2> /dev/null
                git config --list >> seen.txt; git ls-remote origin >> seen.txt 2>&1; true""";
        var plan = repository("secret/tool", install);
        var up = startedBy(OWNER, plan);
        assertThat(up.path("version").asString()).isEqualTo("private");
        assertThat(up.path("seen").asString())
                .contains("remote.origin.url", "could not read Username")
                .doesNotContain(TOKEN, "CAY_GIT");
        assertThat(up.path("environment").toString()).doesNotContain(TOKEN, "CAY_GIT");
        assertThat(filesWith(TOKEN))
                .containsExactly(place.directory().resolve("token").toString());
        assertThat(git.asked).anyMatch(asked -> asked.authorization().isPresent());
    }

    @Test
    void aPrivateRepositoryNeedsATokenForTheTeam() throws Exception {
        git.commit("secret/tool", Map.of("server.js", SERVER));
        node.keepers.create(spec(STRANGER.value()));
        startedBy(OWNER, repository("secret/tool", ""));
        assertThatThrownBy(() -> startedBy(STRANGER, repository("secret/tool", "")))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("cannot be cloned; is it there, and public? fatal: could not read Username");

        Files.writeString(place.directory().resolve("token"), "wrong-" + TOKEN);
        git.commit("secret/tool", Map.of("version.txt", "2"));
        assertThatThrownBy(() -> startedBy(OWNER, repository("secret/tool", "")))
                .hasMessageContaining("may the operator's token read it? ")
                .hasMessageNotContaining(TOKEN);
    }

    @Test
    void aTokenGoesToNoOtherHost() throws Exception {
        git.commit("moved/tool", Map.of("server.js", SERVER));
        assertThatThrownBy(() -> startedBy(OWNER, repository("moved/tool", "")))
                .hasMessageContaining("cannot be cloned");
        assertThat(git.asked).noneMatch(asked -> asked.host().startsWith("elsewhere"));
        git.commit("moved/public", Map.of("server.js", SERVER, "version.txt", "elsewhere"));
        assertThat(startedBy(OWNER, repository("moved/public", ""))
                        .path("version")
                        .asString())
                .as("redirects of others are followed")
                .isEqualTo("elsewhere");
        assertThat(git.asked)
                .anyMatch(asked -> asked.host().startsWith("elsewhere"))
                .noneMatch(asked -> asked.authorization().isPresent());
    }

    @Test
    void aFailedInstallSaysWhyAndLeavesNothing() throws Exception {
        git.commit("acme/tool", Map.of("server.js", SERVER));
        String install = "seq 1000; echo no such module >&2; exit 7";
        assertThatThrownBy(() -> startedBy(OWNER, repository("acme/tool", install)))
                .isInstanceOf(CayException.class)
                .hasMessageMatching("installCmd ended with status 7: .* 999 1000 no such module");
        assertThatThrownBy(() -> startedBy(OWNER, repository("acme/tool", "kill -9 $$")))
                .hasMessageMatching("installCmd ended with status 137: Killed");
        assertThat(layers()).singleElement().asString().contains("mcp-clone-");
        assertThat(sides()).isEmpty();
    }

    @Test
    void anInstallEndsWithItsServer() throws Exception {
        git.commit("acme/tool", Map.of("server.js", SERVER));
        var home = open(repository("acme/tool", "sleep 300"));
        var connecting = CompletableFuture.supplyAsync(() -> home.connect(new Client()));
        Await.until("installCmd", () -> home.progress().equals("running installCmd"));
        assertThat(home.isPreparing()).isTrue();
        home.close();
        assertThatThrownBy(connecting::join).isInstanceOf(CompletionException.class);
        Await.until("the end of the side sandbox", () -> sides().isEmpty());
        Await.until("the unfinished layer", () -> {
            try {
                return layers().size() == 1;
            } catch (IOException e) {
                return false;
            }
        });
    }

    @Test
    void layersOfNobodyAreCollected() throws Exception {
        git.commit("acme/tool", Map.of("server.js", SERVER, "version.txt", "1"));
        var plan = repository("acme/tool", "true");
        try (var home = open(plan);
                var _ = home.connect(new Client())) {
            collect();
            assertThat(layers()).hasSize(2);
        }
        Await.until("the end of the room", () -> sides().isEmpty());
        collect();
        assertThat(layers()).isEmpty();
        try (var notes = Files.list(place.directory().resolve("state/mcp-repositories"))) {
            assertThat(notes).singleElement().asString().endsWith(".salt");
        }
        assertThat(startedBy(OWNER, plan).path("version").asString()).isEqualTo("1");
    }

    private void collect() {
        node.node.disk().collect(List::of, Duration.ZERO, false, _ -> {});
    }

    @Test
    void aHostileRepositoryHarmsNobody() throws Exception {
        var work = git.work("evil/tool");
        var files = new HashMap<>(Map.of(
                "server.js",
                SERVER,
                ".gitmodules",
                "[submodule \"host\"]\n\tpath = host\n\turl = file:///etc\n",
                ".gitattributes",
                "* filter=evil\n",
                "hooks/post-checkout",
                "#!/bin/sh\ntouch /tmp/hooked ~/hooked\n"));
        // A repository in a directory of another one is a submodule of it.
        git.commit("evil/tool/host", Map.of("inner", "x"));
        git.commit("evil/tool", files);
        Files.createSymbolicLink(work.resolve("passwd"), Path.of("/etc/passwd"));
        Files.createSymbolicLink(work.resolve("up"), Path.of("../../../../../../../.."));
        git.publish("evil/tool");
        String install = """
                mkfifo pipe; ln -s / root; ln -sfn /etc ~/.config
                cp /bin/sh suid; chmod 4755 suid; sudo sh -c 'cp /bin/sh /suid; chmod 6755 /suid; rm -rf /srv'
                python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
                sudo mknod device b 8 0; sudo ln /etc/hostname hard; true""";
        startedBy(OWNER, repository("evil/tool", install));
        var top = layers().stream()
                .filter(layer -> layer.toString().contains("mcp-install-"))
                .findFirst()
                .orElseThrow()
                .resolve("rootfs");
        var clone = layers().stream()
                .filter(layer -> layer.toString().contains("mcp-clone-"))
                .findFirst()
                .orElseThrow()
                .resolve("rootfs/home/user");
        assertThat(clone.resolve("server/passwd")).isSymbolicLink();
        assertThat(clone.resolve("server/host")).as("a submodule").isEmptyDirectory();
        assertThat(clone.resolve("hooked")).doesNotExist();
        assertThat(top.resolve("home/user/server/root")).isSymbolicLink();
        assertThat(Files.isRegularFile(top.resolve("suid"), LinkOption.NOFOLLOW_LINKS))
                .isTrue();
        assertThat(PosixFilePermissions.toString(
                        Files.getPosixFilePermissions(place.directory().resolve("cache/layers"))))
                .as("nobody of the host gets to a set-uid program")
                .isEqualTo("rwx------");
        assertThat(devices(top)).isEmpty();
    }

    /// Devices other than the marks of overlayfs.
    private static List<String> devices(Path top) {
        var found = Programs.ofHost()
                .run(TestNode.LIMIT, "find", top.toString(), "-type", "b", "-o", "-type", "c", "-printf", "%p\n");
        var devices = new ArrayList<String>();
        for (String path : found.output().lines().toList()) {
            String number = Programs.ofHost()
                    .require(TestNode.LIMIT, "stat", "-c", "%t,%T", path)
                    .strip();
            if (!number.equals("0,0")) {
                devices.add(path);
            }
        }
        return devices;
    }

    @Test
    void aHugeRepositoryStaysWithinTheDiskOfItsSandbox() throws Exception {
        git.commit("acme/tool", Map.of("server.js", SERVER));
        assertThatThrownBy(() -> startedBy(
                        OWNER,
                        repository("acme/tool", "dd if=/dev/zero of=huge bs=1M count=9000 2>&1 | tail -n 1; exit 1")))
                .hasMessageStartingWith("installCmd ended with status 1");
        assertThat(layers()).singleElement().asString().contains("mcp-clone-");
        assertThat(sides()).isEmpty();
    }
}
