package dev.cay.node.ingress;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.NeedsRoot;
import dev.cay.wire.FileSignature;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URLEncoder;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What `/files` answers, row by row as clients know it.
@Timeout(60)
@NeedsRoot
class FileRoutesTest extends EnvdFilesTest {
    private static void refused(HttpResponse<String> answer, int status, String message) {
        assertThat(answer.body()).isEqualTo("{\"code\":%d,\"message\":\"%s\"}".formatted(status, message));
        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(answer.headers().firstValue("Content-Type").orElse("")).startsWith("application/json");
    }

    @Test
    void letsInWhoHasTheTokenOrASignature() throws Exception {
        Files.writeString(folder.resolve("s"), "signed");
        String file = "/files?path=" + path("s");
        refused(envd.send(envd.bare(file)), 401, "missing signature query parameter");
        refused(
                envd.send(envd.bare(file).header("X-Access-Token", "other")),
                401,
                "access token present in header but does not match");
        refused(envd.send(envd.bare(file + "&signature=v1_wrong")), 401, "invalid signature");
        // For another operation, another user, another path.
        refused(envd.send(envd.bare(file + signed(path("s"), "write", "", null))), 401, "invalid signature");
        refused(envd.send(envd.bare(file + signed(path("s"), "read", "root", null))), 401, "invalid signature");
        refused(envd.send(envd.bare(file + signed("s", "read", "", null))), 401, "invalid signature");
        refused(
                envd.send(envd.bare(file + signed(path("s"), "read", "", "1799999999"))),
                401,
                "signature is already expired");
        assertThat(envd.send(envd.bare(file + signed(path("s"), "read", "", null)))
                        .body())
                .isEqualTo("signed");
        assertThat(envd.send(envd.bare(file + "&username=root" + signed(path("s"), "read", "root", "1800000001")))
                        .body())
                .isEqualTo("signed");
        assertThat(envd.send(envd.bare(file + signed(path("s"), "read", "", null))
                                .method("HEAD", BodyPublishers.noBody()))
                        .headers()
                        .firstValue("Content-Length"))
                .contains("6");
        // The path as it was given counts, also where it means another one, and a blank may come as a plus.
        String odd = folder + "/./a b.txt";
        var written = envd.send(envd.bare("/files?path=" + odd.replace(" ", "+") + signed(odd, "write", "", null))
                .header("Content-Type", "application/octet-stream")
                .POST(BodyPublishers.ofString("x")));
        assertThat(written.body()).contains("\"path\":\"%s\"".formatted(path("a b.txt")));
        assertThat(FileSignature.sign("hello.txt", "read", "user", null, TestEnvd.TOKEN))
                .isEqualTo("v1_gUtH/s9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E");
        // Putting together has no signature of its own.
        assertThat(envd.send(envd.bare("/files/compose").POST(BodyPublishers.ofString("{}")))
                        .statusCode())
                .isEqualTo(401);
    }

    private static String signed(String path, String operation, String user, String expires) {
        String value = FileSignature.sign(path, operation, user, expires, TestEnvd.TOKEN);
        return "&signature=" + URLEncoder.encode(value, UTF_8)
                + (expires == null ? "" : "&signature_expiration=" + expires);
    }

    @Test
    void findsPathsWhereTheContractSays() throws Exception {
        String home = System.getProperty("user.home");
        refused(envd.send(envd.file(path("none"))), 404, "path '%s' does not exist".formatted(path("none")));
        refused(envd.send(envd.file(folder.toString())), 400, "path '%s' is a directory".formatted(folder));
        refused(envd.send(envd.request("/files")), 400, "path '/tmp' is a directory");
        refused(envd.send(envd.file("no/such")), 404, "path '%s/no/such' does not exist".formatted(home));
        refused(envd.send(envd.file("~/no")), 404, "path '%s/no' does not exist".formatted(home));
        refused(envd.send(envd.file("~daemon/x")), 400, "cannot expand user-specific home directory in '~daemon/x'");
        refused(
                envd.send(envd.request("/files?path=/etc/passwd&username=nobodyx")),
                401,
                "error looking up user 'nobodyx': user: unknown user nobodyx");
        refused(envd.send(envd.file("/dev/null")), 400, "path '/dev/null' is not a regular file");
        assertThat(new ProcessBuilder("mkfifo", path("pipe")).start().waitFor()).isZero();
        refused(envd.send(envd.file(path("pipe"))), 400, "path '%s' is not a regular file".formatted(path("pipe")));
        refused(envd.upload(path("pipe"), "x"), 400, "path '%s' is not a regular file".formatted(path("pipe")));
        Files.createSymbolicLink(folder.resolve("loop"), folder.resolve("loop"));
        assertThat(envd.send(envd.file(path("loop"))).body()).contains("too many levels of symbolic links");
        assertThat(envd.send(envd.file("/a\0b")).statusCode()).isEqualTo(400);
        assertThat(envd.send(envd.file("/" + "x".repeat(300))).statusCode()).isEqualTo(400);
    }

    @Test
    void refusesUploadsThatCannotBeMeant() throws Exception {
        var plain = envd.file(path("f")).POST(BodyPublishers.ofString("x"));
        assertThat(envd.send(plain).statusCode()).isEqualTo(400);
        var text = envd.file(path("f")).header("Content-Type", "text/plain").POST(BodyPublishers.ofString("x"));
        assertThat(envd.send(text).body()).contains("unsupported content type 'text/plain'");
        refused(
                envd.send(envd.request("/files")
                        .header("Content-Type", "application/octet-stream")
                        .POST(BodyPublishers.ofString("x"))),
                400,
                "path is required for application/octet-stream");
        for (var encoding : Map.of("br", "unsupported content encoding 'br'", "gzip", "the body is not valid gzip")
                .entrySet()) {
            refused(
                    envd.send(envd.file(path("f"))
                            .header("Content-Type", "application/octet-stream")
                            .header("Content-Encoding", encoding.getKey())
                            .POST(BodyPublishers.ofString("not compressed"))),
                    400,
                    encoding.getValue());
        }
        refused(envd.upload(folder.toString(), "x"), 400, "path is a directory: " + folder);
        Files.writeString(folder.resolve("file"), "");
        refused(envd.upload(path("file/below"), "x"), 400, "path is not a directory: " + path("file/below"));
        String parts = part("file", path("same"), "1") + part("file", path("./same"), "2") + "--b--\r\n";
        refused(
                multipart("/files", parts),
                400,
                "you cannot upload multiple files to the same path '%s' in one upload request".formatted(path("same")));
        Files.writeString(folder.resolve("cut"), "before");
        assertThat(multipart("/files", part("file", path("cut"), "1")).body()).contains("ends without its boundary");
        assertThat(folder.resolve("cut"))
                .as("is not touched by a piece of a file")
                .hasContent("before");
        assertThat(multipart("/files", part("other", path("o"), "1") + "--b--\r\n")
                        .statusCode())
                .isEqualTo(400);
    }

    @ParameterizedTest
    @CsvSource({
        "246, 1, 200",
        "247, 1, 400",
        "1, 3000, 200",
        "1, 4087, 400",
    })
    void boundsMetadata(int key, int value, int status) throws Exception {
        var answer = envd.send(envd.file(path("m"))
                .header("Content-Type", "application/octet-stream")
                .header("X-Metadata-" + "k".repeat(key), "v".repeat(value))
                .POST(BodyPublishers.ofString("x")));
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    }

    private static String part(String name, String filename, String content) {
        return "--b\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\n\r\n%s\r\n"
                .formatted(name, filename, content);
    }

    private HttpResponse<String> multipart(String target, String parts) throws IOException, InterruptedException {
        return envd.send(envd.request(target)
                .header("Content-Type", "multipart/form-data; boundary=b")
                .POST(BodyPublishers.ofString(parts)));
    }

    /// Python names the path in the query only if there is one file; other parts than `file` mean nothing.
    @Test
    void takesTheTargetFromTheQueryOrFromTheParts() throws Exception {
        var one = multipart("/files?path=" + path("q.txt"), part("file", "ignored", "one") + "--b--\r\n");
        assertThat(one.body())
                .isEqualTo("[{\"path\":\"%s\",\"name\":\"q.txt\",\"type\":\"file\"}]".formatted(path("q.txt")));
        var two = multipart(
                "/files",
                part("note", "x", "no") + part("file", path("d/1"), "1") + part("file", path("d/2"), "") + "--b--\r\n");
        assertThat(two.body())
                .isEqualTo(
                        "[{\"path\":\"%s\",\"name\":\"1\",\"type\":\"file\"},{\"path\":\"%s\",\"name\":\"2\",\"type\":\"file\"}]"
                                .formatted(path("d/1"), path("d/2")));
        assertThat(folder.resolve("d/2")).isEmptyFile();
        assertThat(folder.resolve("x")).doesNotExist();

        var zipped = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(zipped)) {
            gzip.write((part("file", path("z"), "zipped") + "--b--\r\n").getBytes(UTF_8));
        }
        var compressed = envd.send(envd.request("/files")
                .header("Content-Type", "multipart/form-data; boundary=\"b\"")
                .header("Content-Encoding", "gzip")
                .POST(BodyPublishers.ofByteArray(zipped.toByteArray())));
        assertThat(compressed.statusCode()).isEqualTo(200);
        assertThat(folder.resolve("z")).hasContent("zipped");
    }

    @Test
    void givesWhatItMakesToTheUser() throws Exception {
        Files.writeString(folder.resolve("old"), "longer than new");
        Files.setPosixFilePermissions(folder.resolve("old"), PosixFilePermissions.fromString("rwx------"));
        for (String name : new String[] {"new/dir/f", "old"}) {
            var sent = envd.send(envd.request("/files?username=daemon&path=" + path(name))
                    .header("Content-Type", "application/octet-stream")
                    .POST(BodyPublishers.ofString("new")));
            assertThat(sent.statusCode()).isEqualTo(200);
            assertThat(folder.resolve(name)).hasContent("new");
            assertThat(Files.getOwner(folder.resolve(name)).getName()).isEqualTo("daemon");
        }
        assertThat(Files.getOwner(folder.resolve("new")).getName()).isEqualTo("daemon");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("new/dir"))))
                .isEqualTo("rwxr-xr-x");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("new/dir/f"))))
                .isEqualTo("rw-r--r--");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("old"))))
                .isEqualTo("rwx------");
    }

    @Test
    void answersConditionsAndRanges() throws Exception {
        var file = Files.writeString(folder.resolve("f"), "0123456789");
        Files.setLastModifiedTime(file, FileTime.from(Instant.parse("2026-09-21T10:00:00.5Z")));
        String at = "Mon, 21 Sep 2026 10:00:00 GMT";
        String before = "Mon, 21 Sep 2026 09:59:59 GMT";

        assertThat(envd.send(envd.file(path("f"))).headers().firstValue("Last-Modified"))
                .contains(at);
        assertThat(status("If-Modified-Since", at)).isEqualTo(304);
        assertThat(status("If-Modified-Since", before)).isEqualTo(200);
        assertThat(status("If-Unmodified-Since", at)).isEqualTo(200);
        assertThat(status("If-Unmodified-Since", before)).isEqualTo(412);
        assertThat(status("If-None-Match", "*")).isEqualTo(304);
        assertThat(status("If-None-Match", "\"x\"", "If-Modified-Since", at)).isEqualTo(200);
        assertThat(status("If-Match", "*")).isEqualTo(200);
        assertThat(status("If-Match", "\"x\"")).isEqualTo(412);
        assertThat(status("Range", "bytes=1-2", "If-Range", at)).isEqualTo(206);
        assertThat(status("Range", "bytes=1-2", "If-Range", before)).isEqualTo(200);
        assertThat(status("Range", "bytes=0-99")).isEqualTo(206);
        assertThat(status("Range", "bytes=10-")).isEqualTo(416);
        assertThat(status("Range", "lines=1-2")).isEqualTo(200);
        assertThat(status("Accept-Encoding", "identity;q=0")).isEqualTo(406);
        assertThat(status("Accept-Encoding", "gzip, identity;q=0", "Range", "bytes=0-1"))
                .isEqualTo(406);
        assertThat(encoding("gzip")).isEqualTo("gzip");
        assertThat(encoding("gzip;q=0.5, identity")).isEmpty();
        assertThat(encoding("gzip;q=0, *")).isEmpty();
        assertThat(encoding("br, *;q=0.1")).isEqualTo("gzip");
        assertThat(envd.send(envd.file(path("f"))
                                .header("Accept-Encoding", "gzip")
                                .header("Range", "bytes=0-1"))
                        .body())
                .isEqualTo("01");
        // An empty file says so by its length, whatever is accepted: clients rely on it.
        Files.writeString(folder.resolve("empty"), "");
        var empty = envd.send(envd.file(path("empty")).header("Accept-Encoding", "gzip"));
        assertThat(empty.headers().firstValue("Content-Length")).contains("0");
    }

    /// Larger than all that lies between file and client.
    @Test
    void sendsWhatIsLeftOfAFileThatBecomesShorterUnlessItSaidHowMuchItIs() throws Exception {
        byte[] before = new byte[32 << 20];
        new Random(1).nextBytes(before);
        var file = Files.write(folder.resolve("log"), before);
        try (var zipped = envd.sendForStream(envd.file(file.toString()).header("Accept-Encoding", "gzip"));
                var plain = envd.sendForStream(envd.file(file.toString()))) {
            assertThat(plain.read()).isEqualTo(before[0] & 0xff);
            var unzipped = new GZIPInputStream(zipped);
            try (var channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(1 << 20);
            }
            byte[] left = unzipped.readAllBytes();
            assertThat(left).hasSizeBetween(1 << 20, before.length - 1).isEqualTo(Arrays.copyOf(before, left.length));
            assertThatThrownBy(plain::readAllBytes).isInstanceOf(IOException.class);
        }
    }

    private int status(String... headers) throws Exception {
        return envd.send(envd.file(path("f")).headers(headers)).statusCode();
    }

    private String encoding(String accepted) throws Exception {
        var answer = envd.sendForBytes(envd.file(path("f")).header("Accept-Encoding", accepted));
        assertThat(answer.headers().firstValue("Vary")).contains("Accept-Encoding");
        return answer.headers().firstValue("Content-Encoding").orElse("");
    }

    @ParameterizedTest
    @CsvSource({
        "a.json, {}, application/json",
        "a.html, x, text/html; charset=utf-8",
        "a.PNG, x, image/png",
        "noext, plain words, text/plain; charset=utf-8",
        "noext, %PDF-1.7, application/pdf",
        "noext, a\u0001b, application/octet-stream",
    })
    void saysWhatKindOfContentItIs(String name, String content, String type) throws Exception {
        Files.writeString(folder.resolve(name), content);
        var headers = envd.send(envd.file(path(name))).headers();
        assertThat(headers.firstValue("Content-Type")).contains(type);
        assertThat(headers.firstValue("Content-Disposition")).contains("inline; filename=" + name);
    }

    @Test
    void putsFilesTogether() throws Exception {
        Files.writeString(folder.resolve("1"), "one");
        Files.writeString(folder.resolve("2"), "");
        Files.writeString(folder.resolve("3"), "three");
        Files.writeString(folder.resolve("whole"), "what was there before");
        var done = compose("\"%s\",\"%s\",\"%s\"".formatted(path("1"), path("2"), path("3")), path("whole"));
        assertThat(done.body())
                .isEqualTo("{\"path\":\"%s\",\"name\":\"whole\",\"type\":\"file\"}".formatted(path("whole")));
        assertThat(folder.resolve("whole")).hasContent("onethree");
        try (var left = Files.list(folder)) {
            assertThat(left).containsExactly(folder.resolve("whole"));
        }
        Files.writeString(folder.resolve("1"), "one");
        Files.createDirectory(folder.resolve("d"));
        refused(compose("", path("x")), 400, "source_paths must name 1 to 10000 files");
        refused(
                compose("\"%s\"".formatted(path("1")), path("./1")),
                400,
                "source path '%s' is the same as the destination".formatted(path("1")));
        refused(
                compose("\"%s\",\"%s\"".formatted(path("1"), path("none")), path("x")),
                404,
                "path '%s' does not exist".formatted(path("none")));
        refused(
                compose("\"%s\"".formatted(path("d")), path("x")),
                400,
                "path '%s' is a directory".formatted(path("d")));
        refused(compose("\"/dev/null\"", path("x")), 400, "path '/dev/null' is not a regular file");
        refused(
                compose("\"%s\"".formatted(path("1")), path("d")),
                400,
                "path '%s' is a directory".formatted(path("d")));
        assertThat(compose("\"%s\"".formatted(path("1")), path("x")).statusCode())
                .isEqualTo(200);
        var nobody = envd.send(envd.request("/files/compose")
                .POST(BodyPublishers.ofString(
                        "{\"source_paths\":[\"a\"],\"destination\":\"b\",\"username\":\"nobodyx\"}")));
        assertThat(nobody.statusCode()).isEqualTo(401);
        try (var left = Files.list(folder)) {
            assertThat(left.map(file -> file.getFileName().toString())).containsExactlyInAnyOrder("whole", "d", "x");
        }
    }

    private HttpResponse<String> compose(String sources, String destination) throws Exception {
        return envd.send(envd.request("/files/compose")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(
                        "{\"source_paths\":[%s],\"destination\":\"%s\"}".formatted(sources, destination))));
    }
}
