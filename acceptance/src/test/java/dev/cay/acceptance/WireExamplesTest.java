package dev.cay.acceptance;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.platform.OwnCay;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.filesystem.StatRequest;
import dev.cay.wire.filesystem.StatResponse;
import dev.cay.wire.process.ListRequest;
import dev.cay.wire.process.ListResponse;
import dev.cay.wire.process.ProcessConfig;
import dev.cay.wire.process.ProcessEvent;
import dev.cay.wire.process.StartRequest;
import dev.cay.wire.process.StartResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// What E2B's clients put on the wire, sent as it was seen there, in JSON and in protobuf. It stands in for the Python
/// client: its models want every field, its watcher asks instead of listening, and it sends limits with every call.
@ExtendWith(TestPlatform.class)
@Timeout(120)
@NeedsRoot
final class WireExamplesTest {
    private static final String JSON = "application/json";
    private static final String JSON_STREAM = "application/connect+json";

    private RawSandbox sandbox;

    @BeforeEach
    void create(OwnCay platform) throws Exception {
        sandbox = new RawSandbox(platform);
    }

    @AfterEach
    void kill() throws Exception {
        sandbox.close();
    }

    @Test
    void controlPlaneAnswersHaveEveryFieldThatPythonsModelsWant() throws Exception {
        var path = "/sandboxes/" + sandbox.id();
        var fields = List.of("templateID", "sandboxID", "clientID", "envdVersion", "envdAccessToken", "domain");
        assertThat(sandbox.made().propertyNames()).containsAll(fields);
        assertThat(sandbox.made().get("clientID").asString()).isEqualTo("6532622b");

        var connected = sandbox.control("POST", path + "/connect", "{\"timeout\":300}");
        assertThat(connected.statusCode()).isEqualTo(200);
        assertThat(read(connected.body()).propertyNames()).containsAll(fields);
        var shown = sandbox.control("GET", path, "");
        var details = List.of(
                "templateID",
                "sandboxID",
                "clientID",
                "startedAt",
                "endAt",
                "cpuCount",
                "memoryMB",
                "diskSizeMB",
                "state",
                "envdVersion");
        assertThat(read(shown.body()).propertyNames()).containsAll(details);
        var listed = read(sandbox.control("GET", "/v2/sandboxes?state=running&limit=100", "")
                .body());
        assertThat(listed.findValuesAsString("sandboxID")).contains(sandbox.id());
        listed.forEach(one -> assertThat(one.propertyNames()).containsAll(details));

        assertThat(sandbox.control("POST", path + "/timeout", "{\"timeout\":91}")
                        .statusCode())
                .isEqualTo(204);
        assertThat(sandbox.control("DELETE", path, "").statusCode()).isEqualTo(204);
        var again = sandbox.control("DELETE", path, "");
        assertThat(again.statusCode()).isEqualTo(404);
        assertThat(read(again.body()).get("code").asInt()).isEqualTo(404);
    }

    @Test
    void aCommandInJson() throws Exception {
        var request = "{\"process\":{\"cmd\":\"/bin/bash\",\"args\":[\"-l\",\"-c\",\"echo hi\"]},\"stdin\":false}";
        try (var frames = start(request)) {
            assertThat(frames.next().text()).matches("\\{\"event\":\\{\"start\":\\{\"pid\":\\d+}}}");
            assertThat(frames.next().text()).isEqualTo("{\"event\":{\"data\":{\"stdout\":\"aGkK\"}}}");
            assertThat(frames.next().text())
                    .isEqualTo("{\"event\":{\"end\":{\"exited\":true,\"status\":\"exit status 0\"}}}");
            assertThat(frames.end()).isEqualTo("{}");
        }
    }

    @Test
    void aCommandOfRootWithVariablesAndADirectory() throws Exception {
        var request = """
                {"process":{"cmd":"/bin/bash","args":["-l","-c","echo $A $(pwd) $(whoami); exit 2"],"envs":{"A":"1"},\
                "cwd":"/tmp"},"stdin":false}""";
        try (var frames = start(request, "Authorization", "Basic cm9vdDo=")) {
            frames.next();
            assertThat(output(frames.next().text())).isEqualTo("1 /tmp root\n");
            assertThat(frames.next().text()).isEqualTo("""
                    {"event":{"end":{"exitCode":2,"exited":true,"status":"exit status 2","error":"exit status 2"}}}""");
            assertThat(frames.end()).isEqualTo("{}");
        }
    }

    @Test
    void aCommandThatIsListedFedSignalledAndFollowed() throws Exception {
        // Without "stdin", as clients before 2.2 start all they start: its input is open.
        var request = "{\"process\":{\"cmd\":\"/bin/bash\",\"args\":[\"-l\",\"-c\",\"cat\"]}}";
        try (var frames = start(request, "Authorization", "Basic dXNlcjo=")) {
            int pid = pid(frames.next().text());
            var selected = "\"process\":{\"pid\":%d}".formatted(pid);
            assertThat(sandbox.json("process.Process/List", "{}")).contains("\"pid\":" + pid);
            assertThat(sandbox.json(
                            "process.Process/SendInput", "{%s,\"input\":{\"stdin\":\"eA==\"}}".formatted(selected)))
                    .isEqualTo("{}");
            assertThat(output(frames.next().text())).isEqualTo("x");
            try (var follower =
                    sandbox.stream("process.Process/Connect", JSON_STREAM, bytes("{%s}".formatted(selected)))) {
                assertThat(pid(follower.next().text())).isEqualTo(pid);
                sandbox.json("process.Process/SendSignal", "{%s,\"signal\":\"SIGNAL_SIGKILL\"}".formatted(selected));
                var killed = """
                        {"event":{"end":{"exitCode":-1,"status":"signal: killed","error":"signal: killed"}}}""";
                assertThat(frames.next().text()).isEqualTo(killed);
                assertThat(follower.next().text()).isEqualTo(killed);
                assertThat(frames.end()).isEqualTo("{}");
                assertThat(follower.end()).isEqualTo("{}");
            }
        }
    }

    @Test
    void inputThatEnds() throws Exception {
        var request = "{\"process\":{\"cmd\":\"/bin/bash\",\"args\":[\"-l\",\"-c\",\"cat\"]},\"stdin\":true}";
        try (var frames = start(request)) {
            int pid = pid(frames.next().text());
            assertThat(sandbox.json("process.Process/CloseStdin", "{\"process\":{\"pid\":%d}}".formatted(pid)))
                    .isEqualTo("{}");
            assertThat(frames.next().text()).contains("\"exit status 0\"");
        }
    }

    @Test
    void aTerminal() throws Exception {
        var request = """
                {"process":{"cmd":"/bin/bash","args":["-i","-l"],"envs":{"TERM":"xterm-256color","LANG":"C.UTF-8",\
                "LC_ALL":"C.UTF-8"}},"pty":{"size":{"cols":80,"rows":24}}}""";
        try (var frames = start(request)) {
            int pid = pid(frames.next().text());
            var selected = "\"process\":{\"pid\":%d}".formatted(pid);
            sandbox.json(
                    "process.Process/Update", "{%s,\"pty\":{\"size\":{\"cols\":100,\"rows\":30}}}".formatted(selected));
            var typed = Base64.getEncoder().encodeToString(bytes("stty size; exit 3\n"));
            sandbox.json("process.Process/SendInput", "{%s,\"input\":{\"pty\":\"%s\"}}".formatted(selected, typed));
            var screen = new StringBuilder();
            var frame = frames.next().text();
            for (; frame.contains("\"pty\""); frame = frames.next().text()) {
                screen.append(output(frame));
            }
            assertThat(screen).contains("30 100");
            assertThat(frame).contains("\"exitCode\":3");
        }
    }

    @Test
    void aCommandPastItsTime() throws Exception {
        var request = "{\"process\":{\"cmd\":\"/bin/sleep\",\"args\":[\"300\"]},\"stdin\":false}";
        try (var frames =
                sandbox.stream("process.Process/Start", JSON_STREAM, bytes(request), "Connect-Timeout-Ms", "500")) {
            frames.next();
            var end = frames.end();
            assertThat(end).contains("\"code\":\"deadline_exceeded\"");
        }
    }

    @Test
    void theSameInProtobuf() throws Exception {
        var config = ProcessConfig.newBuilder().setCmd("/bin/bash").addAllArgs(List.of("-l", "-c", "echo hi; exit 4"));
        var request =
                StartRequest.newBuilder().setProcess(config).setStdin(false).setTag("mine");
        try (var frames = sandbox.stream(
                "process.Process/Start",
                "application/connect+proto",
                request.build().toByteArray())) {
            assertThat(event(frames).getStart().getPid()).isPositive();
            assertThat(event(frames).getData().getStdout().toStringUtf8()).isEqualTo("hi\n");
            var end = event(frames).getEnd();
            assertThat(end.getExitCode()).isEqualTo(4);
            assertThat(end.getStatus()).isEqualTo("exit status 4");
            assertThat(frames.end()).isEqualTo("{}");
        }
        var list = sandbox.call(
                "process.Process/List",
                "application/proto",
                ListRequest.getDefaultInstance().toByteArray());
        assertThat(list.statusCode()).isEqualTo(200);
        assertThat(ListResponse.parseFrom(list.body()).getProcessesCount()).isZero();
        var stat = sandbox.call(
                "filesystem.Filesystem/Stat",
                "application/proto",
                StatRequest.newBuilder().setPath("/etc").build().toByteArray());
        assertThat(stat.headers().firstValue("Content-Type")).hasValue("application/proto");
        assertThat(StatResponse.parseFrom(stat.body()).getEntry().getPermissions())
                .isEqualTo("drwxr-xr-x");
        var missing = sandbox.call(
                "filesystem.Filesystem/Stat",
                "application/proto",
                StatRequest.newBuilder().setPath("/no").build().toByteArray());
        assertThat(missing.statusCode()).isEqualTo(404);
        assertThat(read(new String(missing.body(), UTF_8)).get("code").asString())
                .isEqualTo("not_found");
    }

    @Test
    void filesAsTheyAreSent() throws Exception {
        var one = upload("/files?path=a.txt", part("a.txt", "data"));
        assertThat(one).isEqualTo("[{\"path\":\"/home/user/a.txt\",\"name\":\"a.txt\",\"type\":\"file\"}]");
        assertThat(read(upload("/files", part("a.txt", "1") + part("d/b.txt", "2")))
                        .findValuesAsString("path"))
                .containsExactly("/home/user/a.txt", "/home/user/d/b.txt");
        var bytes = sandbox.send(sandbox.envd("/files?path=c.bin")
                .header("Content-Type", "application/octet-stream")
                .header("X-Metadata-Owner", "bob")
                .POST(BodyPublishers.ofString("raw")));
        assertThat(read(text(bytes.body())).get(0).get("metadata").get("owner").asString())
                .isEqualTo("bob");
        sandbox.send(sandbox.envd("/files?path=z.txt")
                .header("Content-Type", "application/octet-stream")
                .header("Content-Encoding", "gzip")
                .POST(BodyPublishers.ofByteArray(gzip("unpacked"))));
        var read = sandbox.send(sandbox.envd("/files?path=z.txt").GET());
        assertThat(text(read.body())).isEqualTo("unpacked");
        assertThat(read.headers().firstValue("Content-Length")).hasValue("8");
    }

    @Test
    void directoriesAndEntries() throws Exception {
        upload("/files?path=a.txt", part("a.txt", "data"));
        var stat = read(sandbox.json("filesystem.Filesystem/Stat", "{\"path\":\"a.txt\"}"))
                .get("entry");
        assertThat(stat.propertyNames())
                .containsExactlyInAnyOrder(
                        "name", "type", "path", "size", "mode", "permissions", "owner", "group", "modifiedTime");
        assertThat(stat.get("size").isString()).isTrue();
        assertThat(stat.get("mode").asInt()).isEqualTo(420);
        assertThat(stat.get("type").asString()).isEqualTo("FILE_TYPE_FILE");
        sandbox.json("filesystem.Filesystem/MakeDir", "{\"path\":\"d\"}");
        sandbox.json("filesystem.Filesystem/Move", "{\"source\":\"a.txt\",\"destination\":\"d/b.txt\"}");
        // Python asks for no depth at all with 0.
        var list = read(sandbox.json("filesystem.Filesystem/ListDir", "{\"path\":\"d\",\"depth\":0}"));
        assertThat(list.findValuesAsString("path")).containsExactly("/home/user/d/b.txt");
        assertThat(sandbox.json("filesystem.Filesystem/Remove", "{\"path\":\"d\"}"))
                .isEqualTo("{}");
        var missing = sandbox.call("filesystem.Filesystem/Stat", JSON, bytes("{\"path\":\"a.txt\"}"));
        assertThat(missing.statusCode()).isEqualTo(404);
        assertThat(read(text(missing.body())).get("code").asString()).isEqualTo("not_found");
    }

    @Test
    void aWatchThatIsAsked() throws Exception {
        var made = read(sandbox.json("filesystem.Filesystem/CreateWatcher", "{\"path\":\".\",\"recursive\":true}"));
        var id = made.get("watcherId").asString();
        assertThat(id).matches("w.{20}");
        upload("/files?path=a.txt", part("a.txt", "data"));
        upload("/files?path=new/b.txt", part("b.txt", "data"));
        var selected = "{\"watcherId\":\"%s\"}".formatted(id);
        // At once: what was done when the uploads answered must be told now.
        var events = read(sandbox.json("filesystem.Filesystem/GetWatcherEvents", selected))
                .get("events");
        assertThat(named(events, "a.txt")).startsWith("EVENT_TYPE_CREATE").contains("EVENT_TYPE_WRITE");
        assertThat(named(events, "new")).contains("EVENT_TYPE_CREATE");
        assertThat(named(events, "new/b.txt")).contains("EVENT_TYPE_CREATE");
        assertThat(sandbox.json("filesystem.Filesystem/GetWatcherEvents", selected))
                .isEqualTo("{}");
        assertThat(sandbox.json("filesystem.Filesystem/RemoveWatcher", selected))
                .isEqualTo("{}");
        assertThat(sandbox.call("filesystem.Filesystem/GetWatcherEvents", JSON, bytes(selected))
                        .statusCode())
                .isEqualTo(404);
    }

    @Test
    void aWatchThatIsListenedTo() throws Exception {
        try (var frames = sandbox.stream(
                "filesystem.Filesystem/WatchDir", JSON_STREAM, bytes("{\"path\":\".\",\"recursive\":true}"))) {
            assertThat(frames.next().text()).isEqualTo("{\"start\":{}}");
            upload("/files?path=a.txt", part("a.txt", "data"));
            assertThat(frames.next().text())
                    .isEqualTo("{\"filesystem\":{\"name\":\"a.txt\",\"type\":\"EVENT_TYPE_CREATE\"}}");
        }
    }

    private RawSandbox.Frames start(String request, String... headers) throws Exception {
        return sandbox.stream("process.Process/Start", JSON_STREAM, bytes(request), headers);
    }

    private String upload(String path, String parts) throws IOException, InterruptedException {
        var answer = sandbox.send(sandbox.envd(path)
                .header("Content-Type", "multipart/form-data; boundary=----formdata-0")
                .POST(BodyPublishers.ofString(parts + "------formdata-0--\r\n")));
        assertThat(answer.statusCode()).as(text(answer.body())).isEqualTo(200);
        return text(answer.body());
    }

    private static String part(String name, String content) {
        return """
                ------formdata-0
                Content-Disposition: form-data; name="file"; filename="%s"
                Content-Type: application/octet-stream

                %s
                """.replace("\n", "\r\n").formatted(name, content);
    }

    private static List<String> named(JsonNode events, String name) {
        var types = new ArrayList<String>();
        for (var event : events) {
            if (event.get("name").asString().equals(name)) {
                types.add(event.get("type").asString());
            }
        }
        return types;
    }

    private static ProcessEvent event(RawSandbox.Frames frames) throws IOException {
        return StartResponse.parseFrom(frames.next().content()).getEvent();
    }

    private static int pid(String frame) {
        return read(frame).get("event").get("start").get("pid").asInt();
    }

    private static String output(String frame) {
        var data = read(frame).get("event").get("data");
        return text(Base64.getDecoder().decode(data.iterator().next().asString()));
    }

    private static byte[] gzip(String text) throws IOException {
        var packed = new ByteArrayOutputStream();
        try (var out = new GZIPOutputStream(packed)) {
            out.write(bytes(text));
        }
        return packed.toByteArray();
    }

    private static JsonNode read(String text) {
        return JsonMapper.shared().readTree(text);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, UTF_8);
    }
}
