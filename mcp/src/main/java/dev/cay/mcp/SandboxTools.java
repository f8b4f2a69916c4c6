package dev.cay.mcp;

import dev.cay.http.Json;
import dev.cay.sdk.Cell;
import dev.cay.sdk.Command;
import dev.cay.sdk.Execution;
import dev.cay.sdk.FileInfo;
import dev.cay.sdk.Sandbox;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The ten tools.
final class SandboxTools {
    /// Clients have limits of their own; this is for those that have none.
    private static final Duration LONGEST_RUN = Duration.ofMinutes(10);

    /// More than a tool's answer holds, so that it can say how much was left out.
    private static final int KEPT = 4 << 20;

    /// Everything before an offset passes through this program; further on, a command in the sandbox is quicker.
    private static final int LARGEST_OFFSET = 10_000_000;

    private static final String GOES_ON = "The file is longer: call read_file with nextOffset as offset.";
    private static final String GOES_ON_TOO_LONG =
            "The file is too long for this tool: use run_command, or get_file_download_url.";
    private static final int USUAL_EXPIRATION = 10_000;
    private static final Parameter SANDBOX = Parameter.text("sandboxId", "The sandbox, as create_sandbox named it");

    private final OwnSandboxes sandboxes;
    private final Lifetimes lifetimes;

    SandboxTools(OwnSandboxes sandboxes, Lifetimes lifetimes) {
        this.sandboxes = sandboxes;
        this.lifetimes = lifetimes;
    }

    List<Tool> all() {
        return List.of(
                createSandbox(),
                runCode(),
                runCommand(),
                readFile(),
                writeFile(),
                listFiles(),
                sandboxUrl(),
                downloadUrl(),
                listSandboxes(),
                killSandbox());
    }

    private Tool createSandbox() {
        return new Tool(
                "create_sandbox",
                "Create a sandbox",
                "Starts a computer of its own: Linux with Python, Node, a shell and files. It is reachable by its"
                        + " sandboxId until it is killed or its time is up.",
                List.of(new Parameter(
                        "timeoutMs",
                        Parameter.Type.INTEGER,
                        "After how many milliseconds it ends",
                        false,
                        lifetimes.shortest(),
                        lifetimes.longest(),
                        lifetimes.usual())),
                fields("sandboxId", "string", "message", "string"),
                (arguments, _) -> {
                    int timeout = arguments.number("timeoutMs");
                    var sandbox = sandboxes.create(Duration.ofMillis(timeout));
                    return new Answer()
                            .with("sandboxId", sandbox.id())
                            .with("message", "The sandbox runs. It ends after %d ms.".formatted(timeout));
                });
    }

    private Tool runCode() {
        return new Tool(
                "run_code",
                "Run Python code",
                "Runs Python code and returns what it prints, the value of its last line, its error, and the pictures it"
                        + " draws. Variables stay for the next call in the same sandbox. Without sandboxId it runs in a"
                        + " temporary one.",
                List.of(
                        Parameter.text("code", "The code"),
                        new Parameter("sandboxId", Parameter.Type.STRING, "Where to run it", false, null, null, null)),
                fields(
                        "stdout",
                        "string",
                        "stderr",
                        "string",
                        "text?",
                        "string",
                        "error?",
                        "object",
                        "sandboxId?",
                        "string",
                        "message?",
                        "string"),
                (arguments, progress) -> {
                    String code = arguments.text("code");
                    if (arguments.has("sandboxId")) {
                        String id = arguments.text("sandboxId");
                        return run(sandboxes.require(id), code, progress).with("sandboxId", id);
                    }
                    return sandboxes
                            .inTemporary(sandbox -> run(sandbox, code, progress))
                            .with("message", "The code ran in a temporary sandbox, which has ended.");
                });
    }

    private static Answer run(Sandbox sandbox, String code, Tool.Progress progress) {
        return answer(sandbox.runCode(
                Cell.of(code).within(LONGEST_RUN).onStdout(progress::say).onStderr(progress::say)));
    }

    private static Answer answer(Execution execution) {
        var answer = new Answer().withLong("stdout", execution.stdout()).withLong("stderr", execution.stderr());
        execution.text().ifPresent(text -> answer.withLong("text", text));
        var error = execution.error();
        if (error != null) {
            answer.with(
                    "error",
                    Json.mapper()
                            .createObjectNode()
                            .put("name", error.name())
                            .put("value", error.value())
                            .put("traceback", error.traceback()));
        }
        for (var result : execution.results()) {
            result.png().ifPresent(png -> answer.withPicture("image/png", png));
            result.jpeg().ifPresent(jpeg -> answer.withPicture("image/jpeg", jpeg));
        }
        return answer;
    }

    private Tool runCommand() {
        return new Tool(
                "run_command",
                "Run a command",
                "Runs a command line in the sandbox's shell and returns what it prints and its exit code. In the background"
                        + " it returns at once with its pid, and the command keeps running.",
                List.of(
                        Parameter.text("command", "The command line"),
                        SANDBOX,
                        Parameter.flag("background", "Whether not to wait for its end", false)),
                fields(
                        "stdout?",
                        "string",
                        "stderr?",
                        "string",
                        "exit_code?",
                        "integer",
                        "message?",
                        "string",
                        "pid?",
                        "integer",
                        "sandboxId",
                        "string"),
                (arguments, progress) -> {
                    var sandbox = sandboxes.require(arguments.text("sandboxId"));
                    var command = Command.of(arguments.text("command")).keeping(KEPT);
                    return (arguments.flag("background") ? begin(sandbox, command) : run(sandbox, command, progress))
                            .with("sandboxId", sandbox.id());
                });
    }

    private static Answer begin(Sandbox sandbox, Command command) {
        try (var running = sandbox.commands().start(command.withoutLimit())) {
            return new Answer()
                    .with("message", "The command runs in the background.")
                    .with("pid", running.pid());
        }
    }

    private static Answer run(Sandbox sandbox, Command command, Tool.Progress progress) {
        var result = sandbox.commands()
                .run(command.within(LONGEST_RUN).onStdout(progress::say).onStderr(progress::say));
        return new Answer()
                .withLong("stdout", result.stdout())
                .withLong("stderr", result.stderr())
                .with("exit_code", result.exitCode());
    }

    private Tool readFile() {
        return new Tool(
                "read_file",
                "Read a file",
                "Returns the text in a file of the sandbox. A long file comes in parts: when the answer has a nextOffset,"
                        + " call again with that as offset for the next part.",
                List.of(
                        Parameter.text("filePath", "Its path; relative ones begin at the home directory"),
                        SANDBOX,
                        Parameter.number("offset", "How many characters to leave out", 0, LARGEST_OFFSET)
                                .or(0),
                        Parameter.number("length", "How many characters to return at most", 1, Answer.LONGEST_TEXT)
                                .or(Answer.LONGEST_TEXT)),
                fields(
                        "filePath",
                        "string",
                        "content",
                        "string",
                        "nextOffset?",
                        "integer",
                        "message?",
                        "string",
                        "sandboxId",
                        "string"),
                (arguments, _) -> {
                    var sandbox = sandboxes.require(arguments.text("sandboxId"));
                    return part(sandbox, arguments).with("sandboxId", sandbox.id());
                });
    }

    private static Answer part(Sandbox sandbox, Tool.Arguments arguments) {
        String path = arguments.text("filePath");
        int offset = arguments.number("offset");
        TextPart part;
        try (var file = sandbox.files().open(path, LONGEST_RUN)) {
            part = TextPart.read(file, offset, arguments.number("length"));
        } catch (IOException e) {
            throw new ToolException("%s could not be read to its end: %s".formatted(path, e.getMessage()));
        }
        var answer = new Answer().with("filePath", path).with("content", part.text());
        if (!part.more()) {
            return answer;
        }
        int next = offset + part.characters();
        return answer.with("nextOffset", next).with("message", next <= LARGEST_OFFSET ? GOES_ON : GOES_ON_TOO_LONG);
    }

    private Tool writeFile() {
        return new Tool(
                "write_file",
                "Write a file",
                "Writes text to a file of the sandbox. Directories that lead to it are made, and what was there is"
                        + " replaced.",
                List.of(
                        Parameter.text("filePath", "Its path; relative ones begin at the home directory"),
                        SANDBOX,
                        Parameter.content("fileContents", "What it shall hold")),
                fields("filePath", "string", "message", "string", "sandboxId", "string", "size", "integer"),
                (arguments, _) -> {
                    var sandbox = sandboxes.require(arguments.text("sandboxId"));
                    byte[] bytes = arguments.text("fileContents").getBytes(StandardCharsets.UTF_8);
                    sandbox.files().write(arguments.text("filePath"), bytes);
                    return new Answer()
                            .with("filePath", arguments.text("filePath"))
                            .with("message", "The file is written.")
                            .with("sandboxId", sandbox.id())
                            .with("size", bytes.length);
                });
    }

    private Tool listFiles() {
        return new Tool(
                "list_files",
                "List files",
                "Lists the files and directories in a directory of the sandbox.",
                List.of(SANDBOX, Parameter.text("folderPath", "The directory")),
                fields("folderPath", "string", "files", "array", "sandboxId", "string", "count", "integer"),
                (arguments, _) -> {
                    var sandbox = sandboxes.require(arguments.text("sandboxId"));
                    var files = Json.mapper().createArrayNode();
                    for (var file : sandbox.files().list(arguments.text("folderPath"))) {
                        files.addObject()
                                .put("name", file.name())
                                .put("type", file.type() == FileInfo.Type.DIRECTORY ? "dir" : "file");
                    }
                    return new Answer()
                            .with("folderPath", arguments.text("folderPath"))
                            .with("files", files)
                            .with("sandboxId", sandbox.id())
                            .with("count", files.size());
                });
    }

    private Tool sandboxUrl() {
        return new Tool(
                "get_sandbox_url",
                "Get the address of a port",
                "Returns the address at which a server inside the sandbox is reached from outside.",
                List.of(Parameter.number("port", "The port it listens on", 1, 65_535), SANDBOX),
                fields("sandboxId", "string", "port", "integer", "url", "string"),
                (arguments, _) -> {
                    var sandbox = sandboxes.require(arguments.text("sandboxId"));
                    int port = arguments.number("port");
                    return new Answer()
                            .with("sandboxId", sandbox.id())
                            .with("port", port)
                            .with("url", sandbox.url(port).toString());
                });
    }

    private Tool downloadUrl() {
        return new Tool(
                "get_file_download_url",
                "Get the address of a file",
                "Returns an address from which a file of the sandbox can be downloaded without a key, for a while.",
                List.of(
                        Parameter.text("filePath", "Its path; relative ones begin at the home directory"),
                        SANDBOX,
                        new Parameter(
                                "useSignatureExpiration",
                                Parameter.Type.INTEGER,
                                "For how many seconds",
                                false,
                                1,
                                Integer.MAX_VALUE,
                                USUAL_EXPIRATION)),
                fields("sandboxId", "string", "filePath", "string", "url", "string"),
                (arguments, _) -> {
                    var sandbox = sandboxes.require(arguments.text("sandboxId"));
                    String path = arguments.text("filePath");
                    URI url = sandbox.files()
                            .downloadUrl(path, Duration.ofSeconds(arguments.number("useSignatureExpiration")));
                    return new Answer()
                            .with("sandboxId", sandbox.id())
                            .with("filePath", path)
                            .with("url", url.toString());
                });
    }

    private Tool listSandboxes() {
        return new Tool(
                "list_sandbox_ids",
                "List sandboxes",
                "Lists the sandboxes that were created here and not killed.",
                List.of(),
                fields("sandbox_ids", "array", "active_sandboxes", "integer", "max_sandboxes", "integer"),
                (_, _) -> {
                    var ids = Json.mapper().createArrayNode();
                    sandboxes.ids().forEach(ids::add);
                    return new Answer()
                            .with("sandbox_ids", ids)
                            .with("active_sandboxes", ids.size())
                            .with("max_sandboxes", sandboxes.most());
                });
    }

    private Tool killSandbox() {
        return new Tool(
                "kill_sandbox",
                "Kill a sandbox",
                "Ends a sandbox, with its processes and files.",
                List.of(SANDBOX),
                fields("sandboxId", "string", "message", "string", "stats", "object"),
                (arguments, _) -> {
                    String id = arguments.text("sandboxId");
                    sandboxes.kill(id);
                    return new Answer()
                            .with("sandboxId", id)
                            .with("message", "Sandbox %s was killed.".formatted(id))
                            .with("stats", sandboxes.statistics());
                });
    }

    private static Map<String, String> fields(String... namesAndTypes) {
        var fields = new LinkedHashMap<String, String>();
        for (int i = 0; i < namesAndTypes.length; i += 2) {
            fields.put(namesAndTypes[i], namesAndTypes[i + 1]);
        }
        return fields;
    }
}
