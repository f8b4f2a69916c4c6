package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.platform.OwnCay;
import dev.cay.sdk.Cay;
import dev.cay.sdk.FileEvent;
import dev.cay.sdk.FileInfo;
import dev.cay.sdk.SandboxException;
import dev.cay.sdk.SandboxException.Kind;
import dev.cay.sdk.Settings;
import dev.cay.sdk.Watch;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Files of sandboxes: whole, as streams, by address, and what happens to them.
@NeedsRoot
final class JavaSdkFilesTest extends SdkTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @Test
    void filesGoInAndOut() throws Exception {
        try (var sandbox = cay.create()) {
            var files = sandbox.files();
            files.write("deep/er/ä b.txt", "gruß");
            assertThat(files.read("/home/user/deep/er/ä b.txt")).isEqualTo("gruß");
            byte[] bytes = new byte[5 << 20];
            new Random(7).nextBytes(bytes);
            files.write("stream", new ByteArrayInputStream(bytes));
            assertThat(files.readBytes("stream")).isEqualTo(bytes);
            Path here = directory.resolve("here");
            files.download("stream", here);
            files.upload(here, "back");
            try (var in = files.open("back")) {
                assertThat(in.readAllBytes()).isEqualTo(bytes);
            }
            assertThat(files.list(".", 2)).extracting(FileInfo::name).contains("deep", "er", "stream", "back");
            assertThat(files.find("stream")).get().returns((long) bytes.length, FileInfo::size);
            assertThat(files.as("root").find("stream"))
                    .as("root's home is another one")
                    .isEmpty();
            assertThat(files.makeDirectory("deep")).isFalse();
            assertThat(files.makeDirectory("new")).isTrue();
            files.move("back", "new/there");
            files.remove("deep");
            assertThat(files.exists("back")).isFalse();
            assertThat(files.exists("new/there")).isTrue();
            assertKind(Kind.NOT_FOUND, () -> files.read("nothing"));
            assertKind(Kind.INVALID, () -> files.write("/etc", "a directory"));
            assertKind(Kind.NOT_FOUND, () -> files.upload(directory.resolve("nothing"), "x"));
        }
    }

    @Test
    void tellsWhatAFileIs() {
        try (var sandbox = cay.create()) {
            var files = sandbox.files();
            files.write("dir/file", new byte[] {1, 2, 3});
            sandbox.commands().run("chmod 640 dir/file; ln -s dir/file link; ln -s nowhere broken; mkfifo pipe");
            assertThat(files.find("dir/file")).get().satisfies(file -> {
                assertThat(file.type()).isEqualTo(FileInfo.Type.FILE);
                assertThat(file.path()).isEqualTo("/home/user/dir/file");
                assertThat(file.size()).isEqualTo(3);
                assertThat(file.mode() & 0777).isEqualTo(0640);
                assertThat(file.permissions()).isEqualTo("-rw-r-----");
                assertThat(file.owner()).isEqualTo("user");
                assertThat(file.modified())
                        .isBetween(
                                Instant.now().minus(Duration.ofMinutes(5)),
                                Instant.now().plusSeconds(5));
                assertThat(file.symlinkTarget()).isNull();
            });
            assertThat(files.find("link")).get().satisfies(link -> {
                assertThat(link.type()).as("of what it leads to").isEqualTo(FileInfo.Type.FILE);
                assertThat(link.symlinkTarget()).isEqualTo("/home/user/dir/file");
            });
            assertThat(files.find("dir")).get().returns(FileInfo.Type.DIRECTORY, FileInfo::type);
            assertThat(files.find("pipe")).get().returns(FileInfo.Type.OTHER, FileInfo::type);
            assertThat(files.list("."))
                    .extracting(FileInfo::name)
                    .contains("dir", "link")
                    .doesNotContain("file");
            assertKind(Kind.NOT_FOUND, () -> files.list("nowhere"));
            files.as("root").write("/tmp/by-root", "x");
            assertThat(files.find("/tmp/by-root")).get().returns("root", FileInfo::owner);
            files.remove("never-there");
        }
    }

    /// Of a file that is larger than what fits between the two, only what is wanted is fetched.
    @Test
    void aStreamMayBeClosedBeforeItsEnd() throws Exception {
        try (var sandbox = cay.create()) {
            sandbox.commands().run("head -c 200M /dev/zero > large; : > empty");
            try (var in = sandbox.files().open("large")) {
                assertThat(in.readNBytes(1000)).containsOnly(0).hasSize(1000);
            }
            assertThat(sandbox.files().readBytes("empty")).isEmpty();
            Path mine = Files.writeString(directory.resolve("mine"), "mine");
            assertKind(Kind.NOT_FOUND, () -> sandbox.files().download("nothing", mine));
            assertThat(mine).as("is not touched before there is something").hasContent("mine");
            sandbox.files().download("empty", mine);
            assertThat(mine).isEmptyFile();
        }
    }

    @Test
    void aStreamThatBreaksIsTold() {
        try (var sandbox = cay.create()) {
            var broken = new InputStream() {
                private int left = 100_000;

                @Override
                public int read() throws IOException {
                    if (left == 0) {
                        throw new IOException("the source broke");
                    }
                    left--;
                    return 'x';
                }
            };
            sandbox.files().write("broken", "before");
            assertThatThrownBy(() -> sandbox.files().write("broken", broken))
                    .isInstanceOfSatisfying(
                            SandboxException.class, e -> assertThat(e.kind()).isEqualTo(Kind.FAILED))
                    .hasMessageContaining("the source broke");
            assertThat(sandbox.files().read("broken")).isEqualTo("before");
            sandbox.files().write("broken", "whole");
            assertThat(sandbox.files().read("broken")).isEqualTo("whole");
        }
    }

    /// The time for an answer does not begin before all is sent.
    @Test
    void aSlowUploadIsNotGivenUp(OwnCay platform) throws Exception {
        var hasty = Settings.from(platform.environment(OwnCay.Mode.URL)).withRequestTimeout(Duration.ofSeconds(2));
        try (var impatient = Cay.with(hasty);
                var sandbox = impatient.create()) {
            var slow = new SequenceInputStream(
                    new ByteArrayInputStream(new byte[] {'a'}), new ByteArrayInputStream(new byte[] {'b'}) {
                        @Override
                        public int read(byte[] into, int from, int most) {
                            LockSupport.parkNanos(Duration.ofSeconds(3).toNanos());
                            return super.read(into, from, most);
                        }
                    });
            sandbox.files().write("slow", slow);
            assertThat(sandbox.files().read("slow")).isEqualTo("ab");
        }
    }

    @Test
    void watchesADirectoryAndThoseBelow() throws Exception {
        try (var sandbox = cay.create()) {
            var events = new LinkedBlockingQueue<FileEvent>();
            try (var watch = sandbox.files().watch(".", true, events::add)) {
                sandbox.files().write("w/x", "1");
                heardUntil(events, new FileEvent(FileEvent.Type.CREATE, "w/x"));
                assertThat(watch.isOpen()).isTrue();
                assertThat(watch.failure()).isNull();
            }
            assertKind(Kind.NOT_FOUND, () -> sandbox.files().watch("nowhere", events::add));
        }
    }

    @Test
    void tellsEverythingThatHappensInADirectoryAndNothingBelow() throws Exception {
        try (var sandbox = cay.create()) {
            sandbox.commands().run("mkdir -p seen/below");
            var events = new LinkedBlockingQueue<FileEvent>();
            try (var _ = sandbox.files().watch("seen", events::add)) {
                sandbox.commands()
                        .run("cd seen; echo 1 > below/hidden; echo 1 > a; chmod 600 a; mv a b; rm b; echo > last");
                var heard = heardUntil(events, new FileEvent(FileEvent.Type.CREATE, "last"));
                assertThat(heard)
                        .containsSubsequence(
                                new FileEvent(FileEvent.Type.CREATE, "a"),
                                new FileEvent(FileEvent.Type.WRITE, "a"),
                                new FileEvent(FileEvent.Type.CHMOD, "a"),
                                new FileEvent(FileEvent.Type.RENAME, "a"),
                                new FileEvent(FileEvent.Type.REMOVE, "b"))
                        .extracting(FileEvent::name)
                        .noneMatch(name -> name.contains("hidden"));
            }
        }
    }

    private static List<FileEvent> heardUntil(BlockingQueue<FileEvent> events, FileEvent last) throws Exception {
        var heard = new ArrayList<FileEvent>();
        do {
            var event = events.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
            assertThat(event).as("after %s", heard).isNotNull();
            heard.add(event);
        } while (!heard.getLast().equals(last));
        return heard;
    }

    @Test
    void aWatchSaysWhyItEnded() throws Exception {
        try (var sandbox = cay.create()) {
            var deaf = sandbox.files().watch(".", _ -> {
                throw new IllegalStateException("not now");
            });
            var watch = sandbox.files().watch(".", _ -> {});
            sandbox.files().write("x", "1");
            awaitEnd(deaf);
            assertThat(deaf.failure()).isNotNull().hasMessageContaining("not now");
            assertThat(watch.isOpen()).isTrue();
            sandbox.kill();
            awaitEnd(watch);
            assertThat(watch.failure()).isNotNull();
        }
    }

    private static void awaitEnd(Watch watch) {
        Await.until("the watch ends", () -> !watch.isOpen());
    }

    @Test
    void anybodyWithTheAddressCanMoveAFile() throws Exception {
        try (var sandbox = cay.create();
                var plain = HttpClient.newHttpClient()) {
            URI up = sandbox.files().uploadUrl("given", Duration.ofMinutes(1));
            var sent = plain.send(
                    HttpRequest.newBuilder(up)
                            .header("Content-Type", "application/octet-stream")
                            .POST(HttpRequest.BodyPublishers.ofString("by address"))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(sent.statusCode()).as(sent.body()).isEqualTo(200);
            URI down = sandbox.files().downloadUrl("given", Duration.ofMinutes(1));
            assertThat(status(plain, down)).isEqualTo(200);
            assertThat(status(plain, URI.create(down.toString().replace("given", "other"))))
                    .isEqualTo(401);
            assertThat(status(plain, sandbox.files().downloadUrl("given", Duration.ofSeconds(-5))))
                    .isEqualTo(401);
            assertThat(status(plain, up)).as("is for the other way").isEqualTo(401);
            var ofRoot = sandbox.files().as("root");
            ofRoot.write("secret", "root's");
            assertThat(status(plain, ofRoot.downloadUrl("secret", Duration.ofMinutes(1))))
                    .isEqualTo(200);
        }
    }

    private static int status(HttpClient client, URI uri) throws Exception {
        return client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }
}
