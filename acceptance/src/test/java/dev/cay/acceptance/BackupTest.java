package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.platform.OwnCay;
import dev.cay.platform.RemoteSandbox;
import dev.cay.sdk.Cay;
import dev.cay.sdk.Settings;
import dev.cay.sdk.VolumeInfo;
import dev.cay.testing.NeedsRoot;
import dev.cay.testing.OwnPostgres;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/// A backup that is taken while sandboxes come and go is restored by another Cay, with other addresses, users and
/// directories: what was paused goes on in the middle of its program.
@NeedsRoot
@Timeout(600)
final class BackupTest {
    private static final Map<String, String> SETTINGS =
            Map.of("storage.poolSizeMB", "2GB", "sandboxes.spares", "0", "sandboxes.memoryMB", "512");
    private static final Path LAYERS = Path.of("/var/cache/cay/layers");

    /// Counts in memory, and in a database that refuses to go on when the inode number of its file changes.
    private static final String COUNTER = """
            import os, sqlite3, time
            database = sqlite3.connect('/root/count.db', isolation_level=None)
            database.execute('create table c (n integer)')
            n = 0
            while True:
                n += 1
                database.execute('insert into c values (?)', (n,))
                with open('/root/n.new', 'w') as file:
                    file.write('%d %d' % (os.getpid(), n))
                os.rename('/root/n.new', '/root/n')
                time.sleep(0.02)
            """;

    private static final String FINGERPRINT =
            "cd /root && find . -name 'f*' | sort | xargs stat -c '%i %n %a %u %s %Y' > /root/list"
                    + " && cat f* /root/list | sha256sum";

    @TempDir
    private Path directory = Path.of("unset");

    @Test
    void anotherCayGoesOnWhereTheBackupWasTaken() throws Exception {
        Path backup = directory.resolve("backup");
        String key;
        String id;
        String snapshot;
        String fingerprint;
        long counted;
        String layer;
        try (var first = OwnCay.start(SETTINGS)) {
            key = first.key();
            build(first);
            layer = ownLayer(first);
            var paused = RemoteSandbox.create(first.url(), key);
            id = paused.id();
            fingerprint = fill(paused);
            counted = count(paused);
            assertThat(paused.api("POST", "/pause", "{}").statusCode()).isEqualTo(204);
            snapshot = snapshot(first, key);
            volume(first);
            secret(first, "of the backup");
            backUpUnderLoad(first, key, backup);
        }
        assertThat(Files.getPosixFilePermissions(backup)).isEqualTo(PosixFilePermissions.fromString("rw-------"));
        run(new ProcessBuilder("rm", "-rf", LAYERS.resolve(layer).toString()), 0);

        try (var second = OwnCay.start(SETTINGS)) {
            run(second.cay("down"), 0);
            refusesACutFile(second, backup);
            assertThat(run(second.cay("restore", backup.toString()), 1)).contains("holds an installation");
            run(second.cay("restore", "--replace", backup.toString()), 0);
            second.startAgain();

            // It opens every value with the keys of the backup; without them it fails.
            assertThat(run(second.cay("secret", "rotate-key"), 0)).contains("1 secrets are sealed");
            var resumed = RemoteSandbox.connect(second.url(), key, id);
            long later = count(resumed);
            assertThat(later).as("the counter goes on from memory").isGreaterThan(counted);
            assertThat(resumed.run(List.of("bash", "-c", FINGERPRINT))).isEqualTo(fingerprint);
            assertThat(count(resumed)).as("the program is alive").isGreaterThan(later);
            assertThat(resumed.run(List.of("cat", "/etc/resolv.conf"))).contains("nameserver");
            try (var copy = RemoteSandbox.create(second.url(), key, snapshot, Duration.ofMinutes(1))) {
                assertThat(copy.run(List.of("cat", "/root/saved"))).isEqualTo("saved");
            }
            try (var cay = sdk(second, key)) {
                assertThat(cay.volumes()).singleElement().returns(100L, VolumeInfo::sizeMB);
                var kept = cay.volume(cay.volumes().getFirst().id());
                assertThat(kept.read("/a/note")).isEqualTo("of the volume");
                assertThat(kept.info("/a/note").mode()).isEqualTo(0640);
                assertThat(kept.info("/a/note").uid()).isEqualTo(1000);
                assertThat(kept.info("/").mode()).isEqualTo(0777);
            }
            try (var own = RemoteSandbox.create(second.url(), key, "own", Duration.ofMinutes(1))) {
                assertThat(own.run(List.of("cat", "/made"))).isEqualTo("made\n");
            }
        } finally {
            // Other tests do not need it.
            run(new ProcessBuilder("rm", "-rf", LAYERS.resolve(layer).toString()), 0);
        }
    }

    /// What runs is saved where it is; records leave one database and go on in another, or in a file.
    @Test
    void runningSandboxesGoFromOneDatabaseToAnotherWithOrWithoutMemory() throws Exception {
        Path backup = directory.resolve("backup");
        String key;
        String id;
        String fingerprint;
        long counted;
        try (var from = OwnPostgres.start(directory.resolve("from"));
                var first = OwnCay.start(PostgresPlatformTest.settings(from));
                var running = RemoteSandbox.create(first.url(), first.key())) {
            key = first.key();
            id = running.id();
            fingerprint = fill(running);
            counted = count(running);
            var toStandardOutput = first.cay("backup", "--running", "-")
                    .redirectOutput(backup.toFile())
                    .redirectError(directory.resolve("said").toFile());
            assertThat(toStandardOutput.start().waitFor()).isZero();
            assertThat(directory.resolve("said")).content().contains("1 sandboxes, 0 snapshots");
            assertThat(count(running)).as("it goes on").isGreaterThan(counted);
        }
        try (var to = OwnPostgres.start(directory.resolve("to"));
                var second = OwnCay.start(SETTINGS)) {
            run(second.cay("down"), 0);
            Path configuration = second.directory().resolve("cay.yaml");
            String sqlite = Files.readString(configuration);
            Files.writeString(
                    configuration,
                    sqlite + "store:\n  url: %s\n  passwordFile: %s\n".formatted(to.url(), to.passwordFile()));
            run(second.cay("restore", "--replace", backup.toString()), 0);
            assertThat(to.query("SELECT id FROM sandbox WHERE id = '%s'".formatted(id)))
                    .isEqualTo(id);
            second.startAgain();
            var resumed = RemoteSandbox.connect(second.url(), key, id);
            assertThat(count(resumed)).as("the counter goes on from memory").isGreaterThan(counted);
            assertThat(resumed.run(List.of("bash", "-c", FINGERPRINT))).isEqualTo(fingerprint);

            run(second.cay("down", "--all"), 0);
            assertThat(run(second.cay("restore", "--replace", backup.toString()), 1))
                    .as("a database with records is left alone")
                    .contains("records");
            Files.writeString(configuration, sqlite);
            run(second.cay("restore", "--replace", "--files-only", backup.toString()), 0);
            second.startAgain();
            var anew = RemoteSandbox.connect(second.url(), key, id);
            assertThat(anew.run(List.of("bash", "-c", FINGERPRINT))).isEqualTo(fingerprint);
            assertThat(anew.run(List.of("bash", "-c", "pgrep -c -f [c]ount.py || true")))
                    .as("programs are not in the files")
                    .isEqualTo("0\n");
        }
    }

    private static Cay sdk(OwnCay platform, String key) {
        return Cay.with(Settings.from(platform.environment(OwnCay.Mode.URL)).withApiKey(key));
    }

    private static void volume(OwnCay platform) throws IOException, InterruptedException {
        assertThat(run(platform.cay("volume", "create", "kept", "--size", "100"), 0))
                .contains("kept is volume");
        try (var cay = sdk(platform, platform.key())) {
            var kept = cay.volume(cay.volumes().getFirst().id());
            kept.write("/a/note", "of the volume");
            kept.change("/a/note", 1000, 1000, 0640);
        }
        run(platform.cay("volume", "create", "gone"), 0);
        assertThat(run(platform.cay("volume", "list"), 0)).contains(" kept ", "100 MB", " gone ");
        assertThat(run(platform.cay("volume", "delete", "gone"), 0)).contains("gone is deleted");
        assertThat(run(platform.cay("volume", "delete", "gone"), 1)).contains("there is no volume 'gone'");
    }

    private void secret(OwnCay cay, String value) throws IOException, InterruptedException {
        Path file = Files.writeString(directory.resolve("secret-value"), value);
        run(cay.cay("secret", "create", "kept-secret").redirectInput(file.toFile()), 0);
    }

    private void build(OwnCay cay) throws IOException, InterruptedException {
        Path context = Files.createDirectory(directory.resolve("own"));
        // Of its own, so that no layer of another run is taken.
        Files.writeString(
                context.resolve("Dockerfile"),
                "FROM e2bdev/base\nRUN echo made > /made && echo %d > /unique\n".formatted(System.nanoTime()));
        run(cay.cay("template", "build", context.toString(), "--name", "own"), 0);
    }

    /// The content key of the layer that the build made.
    private static String ownLayer(OwnCay cay) throws Exception {
        try (var connection = DriverManager.getConnection(
                        "jdbc:sqlite:" + cay.directory().resolve("state/cay.db"));
                var statement = connection.createStatement();
                var rows = statement.executeQuery("""
                        SELECT build.origin FROM build JOIN template_alias ON build.template_id = template_alias.template_id
                        WHERE alias LIKE '%own' AND status = 'READY'
                        """)) {
            assertThat(rows.next()).isTrue();
            String key = JsonMapper.shared()
                    .readTree(rows.getString(1))
                    .path("layers")
                    .path(0)
                    .asString();
            assertThat(LAYERS.resolve(key)).isDirectory();
            return key;
        }
    }

    private static String fill(RemoteSandbox sandbox) throws IOException, InterruptedException {
        sandbox.write("/root/count.py", COUNTER.getBytes(StandardCharsets.UTF_8));
        sandbox.run(List.of(
                "bash",
                "-c",
                "cd /root; for i in $(seq 200); do head -c 3000 /dev/urandom > f$i; done; rm f*7;"
                        + " (nohup python3 count.py > /dev/null 2>&1 &)"));
        return sandbox.run(List.of("bash", "-c", FINGERPRINT));
    }

    /// What the counter has written when it wrote the next time.
    private static long count(RemoteSandbox sandbox) throws IOException, InterruptedException {
        String text = sandbox.run(List.of(
                "bash",
                "-c",
                "a=$(cat /root/n 2> /dev/null); for i in $(seq 100); do sleep 0.1; b=$(cat /root/n 2> /dev/null);"
                        + " if [ \"$a\" != \"$b\" ]; then break; fi; done; echo $b"));
        return Long.parseLong(text.strip().split(" ")[1]);
    }

    private static String snapshot(OwnCay cay, String key) throws IOException, InterruptedException {
        try (var source = RemoteSandbox.create(cay.url(), key)) {
            source.write("/root/saved", "saved".getBytes(StandardCharsets.UTF_8));
            var answer = source.api("POST", "/snapshots", "{}");
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
            return JsonMapper.shared()
                    .readTree(answer.body())
                    .path("snapshotID")
                    .asString();
        }
    }

    private static void backUpUnderLoad(OwnCay cay, String key, Path backup) throws IOException, InterruptedException {
        var over = new AtomicBoolean();
        var made = new AtomicInteger();
        var failure = new AtomicReference<Throwable>();
        var load = Thread.ofVirtual().start(() -> {
            while (!over.get()) {
                try (var sandbox = RemoteSandbox.create(cay.url(), key)) {
                    sandbox.write("/root/x", new byte[1000]);
                    assertThat(sandbox.api("POST", "/pause", "{}").statusCode()).isEqualTo(204);
                    made.incrementAndGet();
                } catch (Exception | AssertionError e) {
                    failure.set(e);
                }
            }
        });
        try {
            run(cay.cay("backup", backup.toString()), 0);
        } finally {
            over.set(true);
        }
        assertThat(load.join(Duration.ofMinutes(1))).as("the load ends").isTrue();
        assertThat(failure.get()).isNull();
        assertThat(made.get()).as("sandboxes made, paused and killed meanwhile").isPositive();
    }

    private void refusesACutFile(OwnCay cay, Path backup) throws IOException, InterruptedException {
        Path cut = directory.resolve("cut");
        run(new ProcessBuilder("bash", "-c", "head -c 5000000 %s > %s".formatted(backup, cut)), 0);
        Path state = cay.directory().resolve("state");
        byte[] secret = Files.readAllBytes(state.resolve("secret"));
        assertThat(run(cay.cay("restore", "--replace", cut.toString()), 1)).contains("backup");
        assertThat(state.resolve("restore")).doesNotExist();
        assertThat(Files.readAllBytes(state.resolve("secret"))).isEqualTo(secret);
        Files.delete(cut);
    }

    private static String run(ProcessBuilder command, int code) throws IOException, InterruptedException {
        var process = command.redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
        assertThat(process.exitValue()).as(said).isEqualTo(code);
        return said;
    }
}
