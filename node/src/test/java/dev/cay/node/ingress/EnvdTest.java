package dev.cay.node.ingress;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
@NeedsRoot
class EnvdTest {
    @TempDir
    private Path folder;

    private TestEnvd envd;

    @BeforeEach
    void start() throws Exception {
        envd = new TestEnvd(
                Map.of("TRUSTED", "/bundle", "REPLACED", "no", "FROM_CREATE", "no"),
                Map.of("FROM_CREATE", "1", "REPLACED", "yes", "E2B_SANDBOX_ID", "forged"));
    }

    @AfterEach
    void stop() {
        envd.close();
    }

    private HttpRequest.Builder request(String path) {
        return envd.request(path);
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return envd.send(request);
    }

    private HttpResponse<String> call(String method, String json) throws Exception {
        return envd.post(method, json);
    }

    private HttpResponse<InputStream> open(String method, String json, String... headers) throws Exception {
        return envd.stream(method, json, headers);
    }

    private static String frame(InputStream in) throws IOException {
        return TestEnvd.frame(in);
    }

    private static List<String> frames(HttpResponse<InputStream> response) throws IOException {
        var frames = new ArrayList<String>();
        try (var in = new java.io.PushbackInputStream(response.body())) {
            for (int next; (next = in.read()) >= 0; ) {
                in.unread(next);
                frames.add(frame(in));
            }
        }
        return frames;
    }

    private static String bash(String script, String more) {
        return "{\"process\":{\"cmd\":\"/bin/bash\",\"args\":[\"-c\",\"%s\"]%s},\"stdin\":false}"
                .formatted(script, more);
    }

    private static String text(String base64) {
        return new String(Base64.getDecoder().decode(base64), UTF_8);
    }

    @Test
    void runsACommandAsClientsExpect() throws Exception {
        var frames = frames(open("/process.Process/Start", bash("echo hi", "")));

        assertThat(frames.get(0)).matches("\\{\"event\":\\{\"start\":\\{\"pid\":[0-9]+}}}");
        assertThat(frames.subList(1, 4))
                .containsExactly(
                        "{\"event\":{\"data\":{\"stdout\":\"aGkK\"}}}",
                        "{\"event\":{\"end\":{\"exited\":true,\"status\":\"exit status 0\"}}}",
                        "{}");
        assertThat(frames(open("/process.Process/Start", bash("exit 2", ""))))
                .contains(
                        "{\"event\":{\"end\":{\"exitCode\":2,\"exited\":true,\"status\":\"exit status 2\",\"error\":\"exit status 2\"}}}");
    }

    @Test
    void givesProcessesTheirEnvironment() throws Exception {
        var frames = frames(open(
                "/process.Process/Start",
                bash(
                        "echo $TRUSTED $REPLACED $FROM_CREATE $A $HOME $USER"
                                + " $E2B_SANDBOX $E2B_SANDBOX_ID $E2B_TEMPLATE_ID $PWD",
                        ",\"envs\":{\"A\":\"2\"}")));
        String data = frames.get(1).replaceAll(".*stdout\":\"([^\"]*)\".*", "$1");
        assertThat(text(data)).isEqualTo("/bundle yes 1 2 /root root true abc base /tmp\n");
    }

    @Test
    void killsACommandWhenItsTimeIsUp() throws Exception {
        var frames = frames(open("/process.Process/Start", bash("sleep 100", ""), "Connect-Timeout-Ms", "300"));

        assertThat(frames.getLast()).contains("deadline_exceeded");
        assertThat(frames).noneMatch(frame -> frame.contains("\"end\""));
        assertThat(call("/process.Process/List", "{}").body()).isEqualTo("{}");
    }

    @Test
    void listsConnectsAndSignals() throws Exception {
        var started = open("/process.Process/Start", "{\"process\":{\"cmd\":\"cat\"},\"tag\":\"t\"}");
        int pid = Integer.parseInt(frame(started.body()).replaceAll("\\D", ""));

        assertThat(call("/process.Process/List", "{}").body())
                .contains("\"pid\":" + pid)
                .contains("\"tag\":\"t\"");
        var connected = open("/process.Process/Connect", "{\"process\":{\"pid\":%d}}".formatted(pid));
        assertThat(frame(connected.body())).contains("\"start\"");
        assertThat(call("/process.Process/SendInput", "{\"process\":{\"tag\":\"t\"},\"input\":{\"stdin\":\"eA==\"}}")
                        .statusCode())
                .isEqualTo(200);
        assertThat(frame(connected.body())).isEqualTo("{\"event\":{\"data\":{\"stdout\":\"eA==\"}}}");
        assertThat(call(
                                "/process.Process/SendInput",
                                "{\"process\":{\"pid\":%d},\"input\":{\"pty\":\"eA==\"}}".formatted(pid))
                        .body())
                .contains("internal");
        String kill = "{\"process\":{\"pid\":%d},\"signal\":\"SIGNAL_SIGKILL\"}".formatted(pid);
        assertThat(call("/process.Process/SendSignal", kill).body()).isEqualTo("{}");
        assertThat(call("/process.Process/List", "{}").body()).isEqualTo("{}");
        assertThat(frame(connected.body()))
                .isEqualTo(
                        "{\"event\":{\"end\":{\"exitCode\":-1,\"status\":\"signal: killed\",\"error\":\"signal: killed\"}}}");
        var gone = call("/process.Process/SendSignal", kill);
        assertThat(gone.statusCode()).isEqualTo(404);
        assertThat(gone.body()).contains("process with pid %d not found".formatted(pid));
        var again = frames(open(
                "/process.Process/Connect",
                "{\"process\":{\"pid\":%d}}".formatted(pid),
                "Cay-Output-From",
                "stdout=0"));
        assertThat(again.get(1)).contains("eA==");
        assertThat(again.get(2)).contains("signal: killed");
    }

    @Test
    void goesOnWhenItsClientHasGone() throws Exception {
        try (var started = open(
                        "/process.Process/Start", bash("sleep 0.2; echo x > %s/done; sleep 100".formatted(folder), ""))
                .body()) {
            frame(started);
        }
        Await.until("the command writes its file", () -> Files.exists(folder.resolve("done")));
        assertThat(call("/process.Process/List", "{}").body()).contains("sleep 100");
    }

    @Test
    void answersErrorsInTheWordsOfTheContract() throws Exception {
        assertThat(frames(open("/process.Process/Start", bash("true", ",\"cwd\":\"/nowhere\"")))
                        .getLast())
                .contains("invalid_argument", "cwd '/nowhere' does not exist");
        assertThat(frames(open("/process.Process/Start", bash("true", ""), "Authorization", "Basic bm9ib2R5eDo="))
                        .getLast())
                .contains("unauthenticated", "invalid username: 'nobodyx'");
        var open = send(envd.bare("/envs"));
        assertThat(open.statusCode()).isEqualTo(401);
        assertThat(open.body())
                .isEqualTo(
                        "{\"code\":401,\"message\":\"unauthorized access, please provide a valid access token or method signing if supported\"}");
        assertThat(send(envd.bare("/health")).statusCode()).isEqualTo(204);
        assertThat(send(request("/init").POST(HttpRequest.BodyPublishers.noBody()))
                        .statusCode())
                .isEqualTo(404);
        assertThat(send(request("/envs")).body()).contains("\"E2B_SANDBOX_ID\":\"abc\"");
        assertThat(send(request("/metrics")).body()).contains("\"cpu_used_pct\":12.35", "\"mem_total_mib\":512");
        assertThat(send(request("/ports")).body()).isEqualTo("{\"listening\":[8000]}");
        var preflight = send(request("/files").method("OPTIONS", HttpRequest.BodyPublishers.noBody()));
        assertThat(preflight.headers().firstValue("Access-Control-Allow-Origin"))
                .contains("*");
    }

    private String path(String name) {
        return folder.resolve(name).toString();
    }

    @Test
    void storesFilesSentAsPartsAndAsBody() throws Exception {
        String parts =
                "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%s\"\r\n\r\none\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%s\"\r\n\r\ntwo\r\n--b--\r\n"
                        .formatted(path("d/a.txt"), path("b.txt"));
        var both = send(request("/files")
                .header("Content-Type", "multipart/form-data; boundary=b")
                .POST(HttpRequest.BodyPublishers.ofString(parts)));
        assertThat(both.body())
                .isEqualTo(
                        "[{\"path\":\"%s\",\"name\":\"a.txt\",\"type\":\"file\"},{\"path\":\"%s\",\"name\":\"b.txt\",\"type\":\"file\"}]"
                                .formatted(path("d/a.txt"), path("b.txt")));
        assertThat(Files.readString(folder.resolve("d/a.txt"))).isEqualTo("one");
        var same = send(request("/files?path=" + path("x"))
                .header("Content-Type", "multipart/form-data; boundary=b")
                .POST(HttpRequest.BodyPublishers.ofString(parts)));
        assertThat(same.statusCode()).isEqualTo(400);

        byte[] big = new byte[3_000_000];
        new java.util.Random(1).nextBytes(big);
        var zipped = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(zipped)) {
            gzip.write(big);
        }
        var sent = send(request("/files?path=" + path("z.bin"))
                .header("Content-Type", "application/octet-stream")
                .header("Content-Encoding", "gzip")
                .POST(HttpRequest.BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(zipped.toByteArray()))));
        assertThat(sent.statusCode()).isEqualTo(200);
        assertThat(Files.readAllBytes(folder.resolve("z.bin"))).isEqualTo(big);

        var back = envd.sendForBytes(request("/files?path=" + path("z.bin")).header("Accept-Encoding", "gzip"));
        assertThat(back.headers().firstValue("Content-Encoding")).contains("gzip");
        assertThat(new GZIPInputStream(new ByteArrayInputStream(back.body())).readAllBytes())
                .isEqualTo(big);
    }

    @Test
    void readsFilesWholeAndInPart() throws Exception {
        Files.writeString(folder.resolve("f.txt"), "0123456789");
        Files.writeString(folder.resolve("empty"), "");
        String url = "/files?path=" + path("f.txt");

        var whole = send(request(url));
        assertThat(whole.body()).isEqualTo("0123456789");
        assertThat(whole.headers().firstValue("Content-Length")).contains("10");
        assertThat(whole.headers().firstValue("Content-Disposition")).contains("inline; filename=f.txt");
        var part = send(request(url).header("Range", "bytes=2-4"));
        assertThat(part.statusCode()).isEqualTo(206);
        assertThat(part.body()).isEqualTo("234");
        assertThat(part.headers().firstValue("Content-Range")).contains("bytes 2-4/10");
        assertThat(send(request(url).header("Range", "bytes=-3")).body()).isEqualTo("789");
        assertThat(send(request(url).header("Range", "bytes=20-")).statusCode()).isEqualTo(416);
        assertThat(send(request(url)
                                .header(
                                        "If-Modified-Since",
                                        whole.headers()
                                                .firstValue("Last-Modified")
                                                .orElseThrow()))
                        .statusCode())
                .isEqualTo(304);
        var head = send(request(url).method("HEAD", HttpRequest.BodyPublishers.noBody()));
        assertThat(head.headers().firstValue("Content-Length")).contains("10");
        assertThat(send(request("/files?path=" + path("empty"))).headers().firstValue("Content-Length"))
                .contains("0");
        assertThat(send(request("/files?path=" + path("none"))).body())
                .isEqualTo("{\"code\":404,\"message\":\"path '%s' does not exist\"}".formatted(path("none")));
        assertThat(send(request("/files?path=" + folder)).body()).contains("is a directory");
    }

    @Test
    void believesSignaturesAsLongAsTheyLast() throws Exception {
        Files.writeString(folder.resolve("s"), "signed");
        String path = path("s");
        for (var attempt : Map.of(
                        "",
                        "missing signature query parameter",
                        "&signature=v1_x",
                        "invalid signature",
                        "&signature_expiration=1799999999&signature=" + signature(path, "1799999999"),
                        "signature is already expired")
                .entrySet()) {
            var refused = send(envd.bare("/files?path=" + path + attempt.getKey()));
            assertThat(refused.body()).isEqualTo("{\"code\":401,\"message\":\"%s\"}".formatted(attempt.getValue()));
        }
        var read = send(envd.bare(
                "/files?path=" + path + "&signature_expiration=1800000000&signature=" + signature(path, "1800000000")));
        assertThat(read.body()).isEqualTo("signed");
    }

    private static String signature(String path, String expiresAt) {
        return java.net.URLEncoder.encode(
                dev.cay.wire.FileSignature.sign(path, "read", "", expiresAt, TestEnvd.TOKEN), UTF_8);
    }

    @Test
    void keepsMetadataOfUploads() throws Exception {
        String url = "/files?path=" + path("m.txt");
        var sent = send(request(url)
                .header("Content-Type", "application/octet-stream")
                .header("X-Metadata-Owner", "bob")
                .POST(HttpRequest.BodyPublishers.ofString("x")));
        assertThat(sent.body()).contains("\"metadata\":{\"owner\":\"bob\"}");
        String stat = "{\"path\":\"%s\"}".formatted(path("m.txt"));
        assertThat(call("/filesystem.Filesystem/Stat", stat).body())
                .contains("\"owner\":\"bob\"", "\"permissions\":\"-rw-r--r--\"");
        send(request(url)
                .header("Content-Type", "application/octet-stream")
                .POST(HttpRequest.BodyPublishers.ofString("x")));
        assertThat(call("/filesystem.Filesystem/Stat", stat).body()).doesNotContain("bob");
        assertThat(call("/filesystem.Filesystem/MakeDir", "{\"path\":\"%s\"}".formatted(folder))
                        .statusCode())
                .isEqualTo(409);
        assertThat(call("/filesystem.Filesystem/Stat", "{\"path\":\"%s\"}".formatted(path("no")))
                        .body())
                .contains("not_found");
    }
}
