package dev.cay.cli;

import dev.cay.life.WholeFile;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "install",
        mixinStandardHelpOptions = true,
        description = {
            "Tell an MCP client of yours about cay mcp.",
            "",
            "Adds one entry to the client's file and keeps all others. If E2B_API_KEY is set,",
            "the entry holds it and the other variables that `cay env` prints."
        },
        footer = {"", "Examples:", "  ./cay mcp install claude-desktop", "  ./cay mcp install cursor --print"})
final class McpInstallCommand implements Callable<Integer> {
    private static final String NAME = "cay";
    private static final JsonMapper JSON = new JsonMapper();

    /// The clients that can be configured, each with its file in the user's home.
    enum Client {
        CLAUDE_DESKTOP,
        CLAUDE_CODE,
        CURSOR;

        Path file(Path home, String system) {
            return switch (this) {
                case CLAUDE_DESKTOP ->
                    home.resolve(
                            system.startsWith("mac")
                                    ? "Library/Application Support/Claude/claude_desktop_config.json"
                                    : ".config/Claude/claude_desktop_config.json");
                case CLAUDE_CODE -> home.resolve(".claude.json");
                case CURSOR -> home.resolve(".cursor/mcp.json");
            };
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    @Parameters(paramLabel = "CLIENT", description = "${COMPLETION-CANDIDATES}")
    private Client client = Client.CLAUDE_CODE;

    @Option(names = "--print", description = "Show the entry and the file it belongs to; write nothing.")
    private boolean print;

    @Override
    public Integer call() throws IOException {
        String home = System.getenv().getOrDefault("HOME", System.getProperty("user.home"));
        var file = client.file(Path.of(home), System.getProperty("os.name").toLowerCase(Locale.ROOT));
        var entry = entry(Path.of(System.getProperty("cay.home", "."), "cay").toAbsolutePath(), System.getenv());
        if (print) {
            var whole = JSON.createObjectNode();
            whole.putObject("mcpServers").set(NAME, entry);
            System.out.println(file);
            System.out.println(JSON.writerWithDefaultPrettyPrinter().writeValueAsString(whole));
            return 0;
        }
        add(file, entry);
        System.out.printf("%s has the server `%s` now, in %s; restart it to see the tools.%n", client, NAME, file);
        return 0;
    }

    /// Only the variables that Cay's clients read are written into another program's file.
    static ObjectNode entry(Path launcher, Map<String, String> environment) {
        var entry = JSON.createObjectNode().put("type", "stdio").put("command", launcher.toString());
        entry.putArray("args").add("mcp");
        if (environment.containsKey("E2B_API_KEY")) {
            var variables = entry.putObject("env");
            new TreeMap<>(environment).forEach((name, value) -> {
                if (name.startsWith("E2B_") || name.equals("SSL_CERT_FILE")) {
                    variables.put(name, value);
                }
            });
        }
        return entry;
    }

    static void add(Path file, ObjectNode entry) throws IOException {
        var whole = read(file);
        if (whole.has("mcpServers") && !whole.path("mcpServers").isObject()) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "mcpServers in %s is no object; fix it first".formatted(file));
        }
        whole.withObject("mcpServers").set(NAME, entry);
        Files.createDirectories(file.toAbsolutePath().getParent());
        boolean known = Files.exists(file);
        var mode = known ? Files.getPosixFilePermissions(file) : PosixFilePermissions.fromString("rw-------");
        WholeFile.write(file, JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(whole), mode);
    }

    private static ObjectNode read(Path file) throws IOException {
        if (!Files.exists(file) || Files.size(file) == 0) {
            return JSON.createObjectNode();
        }
        try {
            if (JSON.readTree(Files.readAllBytes(file)) instanceof ObjectNode whole) {
                return whole;
            }
        } catch (JacksonException e) {
            // Said below: whatever it is, it is not ours to replace.
        }
        throw new CayException(
                ErrorKind.INVALID_ARGUMENT,
                "%s is no JSON object; fix it, or use --print and add the entry by hand".formatted(file));
    }
}
