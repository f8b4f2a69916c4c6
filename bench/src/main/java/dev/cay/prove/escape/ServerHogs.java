package dev.cay.prove.escape;

import dev.cay.node.host.Programs;
import dev.cay.platform.RemoteSandbox;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tools.jackson.databind.json.JsonMapper;

/// Three MCP servers of one sandbox take more memory than all servers of a sandbox may have together, each of them less
/// than that. The kernel must kill some. In the control the limits of the groups around them are lifted.
public final class ServerHogs {
    /// Of all servers of one sandbox together.
    private static final int ALL_MB = 256;

    private static final int EACH_MB = 128;
    private static final Duration LIMIT = Duration.ofMinutes(3);

    /// Servers of the catalog that need no options; the daemon starts the program below in their place.
    private static final List<String> KEYS = List.of("fetch", "memory", "time");

    /// Speaks as much MCP as a gateway asks for, and takes its memory when it gets the signal.
    private static final String PROGRAM = """
            const held = [];
            process.on('SIGUSR2', () => setInterval(() => {
              if (held.length < %d) held.push(Buffer.alloc(8 << 20, 1));
            }, 20));
            require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
              const { id, method, params } = JSON.parse(line);
              if (id === undefined) return;
              const hello = { capabilities: { tools: {} }, serverInfo: { name: 'hog', version: '1' } };
              const result = method === 'initialize' ? { protocolVersion: params.protocolVersion, ...hello } : { tools: [] };
              console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
            });
            """.formatted(EACH_MB / 8);

    /// A client that stays connected to the servers, so that none of them is ended meanwhile.
    private static final String CONNECT = """
            set -e
            GATEWAY_ACCESS_TOKEN=owners-token mcp-gateway --config 'CONFIG'
            post() {
                curl -s -D /tmp/heads -o /dev/null -m 60 -H 'Authorization: Bearer owners-token' -H 'Content-Type: application/json' \\
                    -H 'Accept: application/json, text/event-stream' "$@" http://127.0.0.1:50005/mcp
            }
            post -d '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},\
            "clientInfo":{"name":"probe","version":"1"}}}'
            session=$(tr -d '\\r' </tmp/heads | grep -i '^mcp-session-id:')
            post -H "$session" -d '{"jsonrpc":"2.0","method":"notifications/initialized"}'
            post -H "$session" -d '{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}'
            echo connected
            """;

    /// @param peakMB the most memory of their own that all servers had together
    /// @param kills  how many processes of theirs the kernel killed for lack of memory
    private record Result(long peakMB, long kills) {}

    private final URI url;
    private final String key;

    /// @param url plain HTTP base of a daemon that was started with {@link #sections}
    public ServerHogs(URI url, String key) {
        this.url = url;
        this.key = key;
    }

    /// What the daemon's configuration has to say.
    public static String sections() {
        var launch = Map.of("launch", Map.of("command", List.of("node", "-e", PROGRAM)));
        var servers = KEYS.stream().collect(Collectors.toMap(name -> name, _ -> launch));
        // YAML knows all that JSON does.
        return "mcp: %s\n"
                .formatted(JsonMapper.shared().writeValueAsString(Map.of("memoryMB", ALL_MB, "servers", servers)));
    }

    /// Adds what got through, or what its control did not, to the failures.
    public List<String> check(List<String> failures) throws IOException, InterruptedException {
        var guarded = attack(false);
        if (guarded.kills() == 0 || guarded.peakMB() > ALL_MB) {
            failures.add("MCP servers took more memory than all of a sandbox may have: " + guarded);
        }
        var free = attack(true);
        if (free.peakMB() <= ALL_MB) {
            failures.add("control: MCP servers did not take more memory without the limit: " + free);
        }
        return List.of(
                "Memory: three MCP servers of one sandbox that take %d MB each get %d MB together, where %d MB are allowed, and the kernel kills what takes more; with the limits lifted they get %d MB."
                        .formatted(EACH_MB, guarded.peakMB(), ALL_MB, free.peakMB()));
    }

    private Result attack(boolean lift) throws IOException, InterruptedException {
        try (var sandbox = RemoteSandbox.create(url, key)) {
            var config = KEYS.stream().map("\"%s\":{}"::formatted).collect(Collectors.joining(",", "{", "}"));
            String said = sandbox.run(List.of("/bin/sh", "-c", CONNECT.replace("CONFIG", config)));
            if (!said.contains("connected")) {
                throw new IOException("the gateway did not begin: " + said);
            }
            var servers = await(sandbox.id());
            var groups = servers.stream().map(ServerHogs::memoryGroup).toList();
            if (lift) {
                lift(groups.getFirst().resolve(".."));
                lift(groups.getFirst().resolve("../.."));
            }
            for (Path server : servers) {
                Programs.ofHost()
                        .run(LIMIT, "kill", "-USR2", server.getFileName().toString());
            }
            return watch(servers, groups);
        }
    }

    /// The servers' directories in /proc, when all of them listen for the signal.
    private static List<Path> await(String sandbox) throws IOException, InterruptedException {
        long end = System.nanoTime() + LIMIT.toNanos();
        List<Path> found = List.of();
        while (System.nanoTime() < end) {
            found = listening(sandbox);
            if (found.size() == KEYS.size()) {
                return found;
            }
            Thread.sleep(Duration.ofMillis(100));
        }
        throw new IOException("of %d MCP servers these run: %s".formatted(KEYS.size(), found));
    }

    private static List<Path> listening(String sandbox) throws IOException {
        var found = new ArrayList<Path>();
        try (var processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
            for (Path process : processes) {
                boolean server = read(process.resolve("cgroup")).contains("/%s/_servers/".formatted(sandbox))
                        && read(process.resolve("cmdline")).contains("SIGUSR2");
                if (server && catches(process, 12)) {
                    found.add(process);
                }
            }
        }
        return found;
    }

    /// A signal that is not caught would end the server.
    private static boolean catches(Path process, int signal) {
        long mask = number(read(process.resolve("status")), "SigCgt:\\s+([0-9a-f]+)", 16);
        return (mask >> (signal - 1) & 1) == 1;
    }

    /// Until the kernel has killed one, or they have more than they may.
    private static Result watch(List<Path> servers, List<Path> groups) throws InterruptedException {
        long end = System.nanoTime() + LIMIT.toNanos();
        long peak = 0;
        long kills = 0;
        while (kills == 0 && peak <= ALL_MB && System.nanoTime() < end) {
            Thread.sleep(Duration.ofMillis(10));
            peak = Math.max(peak, servers.stream().mapToLong(ServerHogs::ownKB).sum() / 1024);
            kills = groups.stream().mapToLong(ServerHogs::kills).sum();
        }
        return new Result(peak, kills);
    }

    private static long ownKB(Path process) {
        return number(read(process.resolve("status")), "RssAnon:\\s+(\\d+)", 10);
    }

    /// As cgroups of the new kind tell it, or those of the old kind.
    private static long kills(Path group) {
        String told = read(group.resolve("memory.events")) + read(group.resolve("memory.oom_control"));
        return number(told, "oom_kill (\\d+)", 10);
    }

    /// Where the limits of a process's memory are.
    private static Path memoryGroup(Path process) {
        String groups = read(process.resolve("cgroup"));
        var old = Pattern.compile("(?m)^\\d+:memory:/(.+)$").matcher(groups);
        if (old.find()) {
            return Path.of("/sys/fs/cgroup/memory", old.group(1));
        }
        return Path.of("/sys/fs/cgroup", groups.strip().replaceFirst("0::/", ""));
    }

    private static void lift(Path group) throws IOException {
        for (String file : List.of("memory.memsw.limit_in_bytes", "memory.limit_in_bytes", "memory.max")) {
            if (Files.exists(group.resolve(file))) {
                Files.writeString(group.resolve(file), file.equals("memory.max") ? "max" : "-1");
            }
        }
    }

    private static long number(String text, String pattern, int radix) {
        var found = Pattern.compile(pattern).matcher(text);
        return found.find() ? Long.parseUnsignedLong(found.group(1), radix) : 0;
    }

    /// Nothing, if it is not there or no longer.
    private static String read(Path file) {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException gone) {
            return "";
        }
    }
}
