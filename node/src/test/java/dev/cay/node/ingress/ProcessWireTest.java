package dev.cay.node.ingress;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.process.ListResponse;
import dev.cay.wire.process.ProcessConfig;
import dev.cay.wire.process.ProcessInput;
import dev.cay.wire.process.ProcessSelector;
import dev.cay.wire.process.StartRequest;
import dev.cay.wire.process.StartResponse;
import dev.cay.wire.process.StreamInputRequest;
import java.io.ByteArrayOutputStream;
import java.net.http.HttpRequest;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What clients of every kind read and write when they start, follow and steer processes.
@Timeout(90)
@NeedsRoot
class ProcessWireTest {
    private static final String JSON = "application/connect+json";
    private static final String PROTO = "application/connect+proto";

    private ProcessLab lab;

    @BeforeEach
    void start() throws Exception {
        lab = new ProcessLab();
    }

    @AfterEach
    void stop() throws Exception {
        lab.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theFirstEventCarriesThePidThatTheProcessSees(boolean second) throws Exception {
        byte[] request =
                ProcessLab.frame(ProcessLab.shell("echo $$ $FROM_CREATE", "").getBytes(UTF_8));
        try (var events = lab.open(second, "Start", JSON, request)) {
            assertThat(events.answer.statusCode()).isEqualTo(200);
            assertThat(events.answer.headers().firstValue("content-type")).contains(JSON);
            int pid = events.pid();
            var rest = events.rest();
            assertThat(rest.text()).isEqualTo(pid + " 1\n");
            assertThat(rest.end()).isEqualTo("{\"event\":{\"end\":{\"exited\":true,\"status\":\"exit status 0\"}}}");
            assertThat(rest.last()).isEqualTo("{}");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void speaksProtobuf(boolean second) throws Exception {
        var request = StartRequest.newBuilder()
                .setProcess(ProcessConfig.newBuilder().setCmd("cat"))
                .setTag("t")
                .build();
        try (var events = lab.open(second, "Start", PROTO, ProcessLab.frame(request.toByteArray()))) {
            assertThat(events.answer.headers().firstValue("content-type")).contains(PROTO);
            int pid = StartResponse.parseFrom(events.bytes())
                    .getEvent()
                    .getStart()
                    .getPid();
            var listed = lab.send(
                    second,
                    lab.request(second, "/process.Process/List")
                            .header("Content-Type", "application/proto")
                            .POST(HttpRequest.BodyPublishers.noBody()));
            assertThat(listed.headers().firstValue("content-type")).contains("application/proto");
            assertThat(ListResponse.parseFrom(listed.body().getBytes(UTF_8))
                            .getProcesses(0)
                            .getPid())
                    .isEqualTo(pid);
            try (var input = lab.open(second, "StreamInput", PROTO, inputs(pid))) {
                assertThat(input.bytes()).isEmpty();
                assertThat(input.next()).isEqualTo("{}");
            }
            assertThat(StartResponse.parseFrom(events.bytes())
                            .getEvent()
                            .getData()
                            .getStdout()
                            .toStringUtf8())
                    .isEqualTo("hello");
            lab.call("SendSignal", "{\"process\":{\"tag\":\"t\"},\"signal\":\"SIGNAL_SIGTERM\"}");
            var end = StartResponse.parseFrom(events.bytes()).getEvent().getEnd();
            assertThat(end.getExitCode()).isEqualTo(-1);
            assertThat(end.getExited()).isFalse();
            assertThat(end.getStatus()).isEqualTo("signal: terminated");
            assertThat(end.getError()).isEqualTo("signal: terminated");
        }
    }

    private static byte[] inputs(int pid) throws Exception {
        var start = StreamInputRequest.newBuilder()
                .setStart(StreamInputRequest.StartEvent.newBuilder()
                        .setProcess(ProcessSelector.newBuilder().setPid(pid)))
                .build();
        var data = StreamInputRequest.newBuilder()
                .setData(StreamInputRequest.DataEvent.newBuilder()
                        .setInput(ProcessInput.newBuilder().setStdin(ByteString.copyFromUtf8("hello"))))
                .build();
        var all = new ByteArrayOutputStream();
        all.write(ProcessLab.frame(start.toByteArray()));
        all.write(ProcessLab.frame(StreamInputRequest.newBuilder()
                .setKeepalive(StreamInputRequest.KeepAlive.getDefaultInstance())
                .build()
                .toByteArray()));
        all.write(ProcessLab.frame(data.toByteArray()));
        return all.toByteArray();
    }

    @Test
    void acceptsGzipAndNamesWhatItDoesNotKnow() throws Exception {
        byte[] json = ProcessLab.shell("echo hi", "").getBytes(UTF_8);
        var zipped = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(zipped)) {
            gzip.write(json);
        }
        byte[] framed = ProcessLab.frame(zipped.toByteArray());
        framed[0] = 1;
        try (var events = lab.open(false, "Start", JSON, framed, "Connect-Content-Encoding", "gzip")) {
            events.pid();
            assertThat(events.rest().text()).isEqualTo("hi\n");
        }
        try (var events = lab.open(false, "Start", JSON, framed, "Connect-Content-Encoding", "br")) {
            assertThat(events.last()).contains("\"unimplemented\"", "br");
        }
        var unary = lab.call("List", "{}", "Content-Encoding", "br");
        assertThat(unary.statusCode()).isEqualTo(501);
        assertThat(unary.body()).contains("\"unimplemented\"");
        assertThat(lab.call("List", "{}", "Connect-Protocol-Version", "2").body())
                .contains("invalid_argument");
    }

    /// A row: the method; its request, with P for the pid of a process with pipes, T of one with a terminal, N of one
    /// whose input is closed from the beginning; status, code and message of the answer.
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            SendInput  | {"process":{"pid":P},"input":{"pty":"eA=="}}        | 500 | internal | tty not assigned to process
            SendInput  | {"process":{"pid":T},"input":{"stdin":"eA=="}}      | 500 | internal | tty assigned to process
            SendInput  | {"process":{"pid":N},"input":{"stdin":"eA=="}}      | 500 | internal | stdin is not open
            SendInput  | {"process":{"pid":P}}                               | 400 | invalid_argument | input
            SendInput  | {"process":{"pid":99999},"input":{"stdin":"eA=="}}  | 404 | not_found | process with pid 99999 not found
            SendInput  | {"process":{"tag":"x"},"input":{"stdin":"eA=="}}    | 404 | not_found | process with tag x not found
            SendInput  | {"input":{"stdin":"eA=="}}                          | 400 | invalid_argument | process
            CloseStdin | {"process":{"pid":T}}                               | 500 | unknown | Ctrl+D
            CloseStdin | {"process":{"pid":99999}}                           | 404 | not_found | process with pid 99999 not found
            Update     | {"process":{"pid":P},"pty":{"size":{"cols":9}}}     | 500 | internal | tty not assigned to process
            Update     | {"process":{"pid":99999}}                           | 404 | not_found | process with pid 99999 not found
            SendSignal | {"process":{"pid":99999},"signal":"SIGNAL_SIGKILL"} | 404 | not_found | process with pid 99999 not found
            SendSignal | {"process":{"pid":1},"signal":"SIGNAL_SIGKILL"}     | 404 | not_found | process with pid 1 not found
            SendSignal | {"process":{"pid":P}}                               | 501 | unimplemented | SIGNAL_SIGKILL
            SendSignal | {"process":{"pid":P},"signal":"SIGNAL_SIGHUP"}      | 501 | unimplemented | SIGNAL_SIGKILL
            List       | {"x":                                               | 400 | invalid_argument | cannot read
            """)
    void tellsWhatIsWrong(String method, String json, int status, String code, String message) throws Exception {
        try (var pipes = lab.open("Start", "{\"process\":{\"cmd\":\"cat\"}}");
                var terminal = lab.open(
                        "Start", "{\"process\":{\"cmd\":\"cat\"},\"pty\":{\"size\":{\"cols\":80,\"rows\":24}}}");
                var deaf = lab.start("sleep 100", ",\"stdin\":false")) {
            String request = json.replace(":P", ":" + pipes.pid())
                    .replace(":T", ":" + terminal.pid())
                    .replace(":N", ":" + deaf.pid());
            var answer = lab.call(method, request);
            assertThat(answer.statusCode()).isEqualTo(status);
            assertThat(answer.headers().firstValue("content-type")).contains("application/json");
            assertThat(answer.body())
                    .startsWith("{\"code\":\"" + code + "\",\"message\":\"")
                    .contains(message);
            assertThat(answer.body()).doesNotContain("error id");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {"process":{"cmd":"/bin/true","cwd":"/nowhere"}}   |              | invalid_argument | cwd '/nowhere' does not exist
            {"process":{"cmd":"/bin/true","cwd":"/etc/passwd"}}|              | invalid_argument | not a directory
            {"process":{"cmd":"/nowhere"}}                     |              | invalid_argument | no such file
            {"process":{"cmd":"nowhere"}}                      |              | invalid_argument | no such file
            {"process":{"cmd":"/etc/passwd"}}                  |              | invalid_argument | permission denied
            {"process":{}}                                     |              | invalid_argument | process.cmd
            {}                                                 |              | invalid_argument | process.cmd
            {"process":{"cmd":"true","envs":{"A=B":"1"}}}      |              | invalid_argument | A=B
            {"process":{"cmd":"/bin/true"}}                    | bm9ib2R5eDo= | unauthenticated  | invalid username: 'nobodyx'
            """)
    void tellsWhyNothingStarted(String json, String user, String code, String message) throws Exception {
        String[] headers = user == null ? new String[0] : new String[] {"Authorization", "Basic " + user};
        try (var events = lab.open("Start", json, headers)) {
            assertThat(events.answer.statusCode()).isEqualTo(200);
            assertThat(events.last())
                    .startsWith("{\"error\":{\"code\":\"" + code + "\",\"message\":\"")
                    .containsIgnoringCase(message);
        }
        assertThat(lab.call("List", "{}").body()).isEqualTo("{}");
    }

    @Test
    void nobodyWithoutTheTokenStartsAnything() throws Exception {
        for (String method : new String[] {"Start", "List"}) {
            var request = HttpRequest.newBuilder(lab.plain.resolve("/process.Process/" + method))
                    .header("Content-Type", method.equals("List") ? "application/json" : JSON)
                    .POST(HttpRequest.BodyPublishers.ofByteArray(ProcessLab.frame("{}".getBytes(UTF_8))));
            var refused = lab.send(false, request);
            assertThat(refused.statusCode()).isEqualTo(401);
            assertThat(refused.headers().firstValue("content-type")).contains("application/json; charset=utf-8");
            assertThat(refused.body())
                    .isEqualTo(
                            "{\"code\":401,\"message\":\"unauthorized access, please provide a valid access token or method signing if supported\"}");
        }
    }

    @Test
    void whatIsOverCanOnlyBeFollowedToItsEnd() throws Exception {
        int pid;
        try (var events = lab.start("exit 3", ",\"tag\":\"once\"")) {
            pid = events.pid();
            assertThat(events.rest().end())
                    .isEqualTo(
                            "{\"event\":{\"end\":{\"exitCode\":3,\"exited\":true,\"status\":\"exit status 3\",\"error\":\"exit status 3\"}}}");
        }
        assertThat(lab.call("List", "{}").body()).isEqualTo("{}");
        for (String selector : new String[] {"\"pid\":" + pid, "\"tag\":\"once\""}) {
            for (String[] call : new String[][] {
                {"SendInput", ",\"input\":{\"stdin\":\"eA==\"}"},
                {"CloseStdin", ""},
                {"Update", ""},
                {"SendSignal", ",\"signal\":\"SIGNAL_SIGTERM\""}
            }) {
                var answer = lab.call(call[0], "{\"process\":{%s}%s}".formatted(selector, call[1]));
                assertThat(answer.statusCode()).isEqualTo(404);
                assertThat(answer.body()).contains("\"not_found\"");
            }
            try (var again = lab.open("Connect", "{\"process\":{%s}}".formatted(selector))) {
                assertThat(again.pid()).isEqualTo(pid);
                assertThat(again.rest().end()).contains("exit status 3");
            }
        }
        try (var none = lab.open("Connect", "{\"process\":{\"pid\":99999}}")) {
            assertThat(none.last())
                    .isEqualTo("{\"error\":{\"code\":\"not_found\",\"message\":\"process with pid 99999 not found\"}}");
        }
    }

    @Test
    void inputStaysOpenUnlessAskedOtherwise() throws Exception {
        for (String more : new String[] {"", ",\"stdin\":true"}) {
            try (var events = lab.start("cat; echo done", more)) {
                String process = "{\"process\":{\"pid\":%d}".formatted(events.pid());
                lab.call("SendInput", process + ",\"input\":{\"stdin\":\"%s\"}}".formatted(ProcessLab.base64("hi\n")));
                assertThat(events.until("hi\n")).isEqualTo("hi\n");
                assertThat(lab.call("CloseStdin", process + "}").body()).isEqualTo("{}");
                assertThat(lab.call("CloseStdin", process + "}").body()).isIn("{}", notFound(process));
                assertThat(events.rest().text()).isEqualTo("done\n");
            }
        }
        try (var events = lab.start("cat; echo done", ",\"stdin\":false")) {
            events.pid();
            assertThat(events.rest().text()).isEqualTo("done\n");
        }
    }

    /// The process may be over by the time of the second close.
    private static String notFound(String process) {
        return "{\"code\":\"not_found\",\"message\":\"process with pid %s not found\"}"
                .formatted(process.replaceAll("\\D", ""));
    }

    @Test
    void saysNowAndThenThatItIsStillThere() throws Exception {
        try (var events = lab.start("sleep 100", "", "Keepalive-Ping-Interval", "1")) {
            events.pid();
            assertThat(events.next()).isEqualTo("{\"event\":{\"keepalive\":{}}}");
            assertThat(events.next()).isEqualTo("{\"event\":{\"keepalive\":{}}}");
        }
    }

    @Test
    void aDeadlineEndsWhatItWasGivenFor() throws Exception {
        int pid;
        try (var events = lab.start("echo begun; sleep 100", "")) {
            pid = events.pid();
            events.until("begun");
            // A follower's time being up is nothing to the process.
            String process = "{\"process\":{\"pid\":%d}}".formatted(pid);
            try (var follower = lab.open("Connect", process, "Connect-Timeout-Ms", "200")) {
                assertThat(follower.last())
                        .isEqualTo(
                                "{\"error\":{\"code\":\"deadline_exceeded\",\"message\":\"context deadline exceeded\"}}");
            }
            assertThat(lab.call("List", "{}").body()).contains("\"pid\":" + pid);
        }
        try (var late = lab.start("trap '' TERM; sleep 100 & wait", "", "Connect-Timeout-Ms", "300")) {
            int own = late.pid();
            assertThat(late.last())
                    .isEqualTo(
                            "{\"error\":{\"code\":\"deadline_exceeded\",\"message\":\"context deadline exceeded\"}}");
            assertThat(lab.call("List", "{}").body()).doesNotContain("\"pid\":" + own);
        }
        try (var wrong = lab.start("true", "", "Connect-Timeout-Ms", "soon")) {
            assertThat(wrong.last()).contains("invalid_argument", "Connect-Timeout-Ms");
        }
    }

    /// Python's client sends its request timeout with unary calls too.
    @Test
    void aUnaryCallEndsWhenItsTimeIsUp() throws Exception {
        try (var events = lab.start("sleep 100", ",\"stdin\":true")) {
            int pid = events.pid();
            String input = "{\"process\":{\"pid\":%d},\"input\":{\"stdin\":\"%s\"}}"
                    .formatted(pid, ProcessLab.base64("x".repeat(300_000)));
            var answer = lab.call("SendInput", input, "Connect-Timeout-Ms", "300");
            assertThat(answer.statusCode()).isEqualTo(504);
            assertThat(answer.body())
                    .isEqualTo("{\"code\":\"deadline_exceeded\",\"message\":\"context deadline exceeded\"}");
            assertThat(lab.call("List", "{}", "Connect-Timeout-Ms", "60000").body())
                    .contains("\"pid\":" + pid);
        }
    }

    @Test
    void waitsForOutputThatABackgroundChildStillHolds() throws Exception {
        try (var events = lab.start("(sleep 0.5; echo late) & echo early", "")) {
            events.pid();
            assertThat(events.rest().text()).isEqualTo("early\nlate\n");
        }
        for (String signal : new String[] {"KILL", "TERM"}) {
            try (var events = lab.start("sleep 100 & echo begun; wait", "")) {
                int pid = events.pid();
                events.until("begun");
                lab.call("SendSignal", "{\"process\":{\"pid\":%d},\"signal\":\"SIGNAL_SIG%s\"}".formatted(pid, signal));
                assertThat(events.rest().end())
                        .contains("\"exitCode\":-1", signal.equals("KILL") ? "signal: killed" : "signal: terminated");
            }
        }
    }

    @Test
    void everySubscriberGetsEverything() throws Exception {
        try (var first = lab.start("read x; head -c 3000000 /dev/zero; echo end", "")) {
            int pid = first.pid();
            var others = new java.util.ArrayList<ProcessLab.Events>();
            for (int i = 0; i < 12; i++) {
                var other = lab.open("Connect", "{\"process\":{\"pid\":%d}}".formatted(pid));
                assertThat(other.pid()).isEqualTo(pid);
                others.add(other);
            }
            var heard = new java.util.ArrayList<java.util.concurrent.Future<ProcessLab.Rest>>();
            try (var threads = java.util.concurrent.Executors.newVirtualThreadPerTaskExecutor()) {
                for (var other : others) {
                    heard.add(threads.submit(other::rest));
                }
                lab.call("SendInput", "{\"process\":{\"pid\":%d},\"input\":{\"stdin\":\"Cg==\"}}".formatted(pid));
                assertThat(first.rest().output()).hasSize(3_000_004);
                for (var rest : heard) {
                    assertThat(rest.get().output()).hasSize(3_000_004);
                    assertThat(rest.get().end()).contains("exit status 0");
                }
            }
        }
    }
}
