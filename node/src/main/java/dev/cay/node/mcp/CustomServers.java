package dev.cay.node.mcp;

import dev.cay.node.mcp.catalog.CatalogServer;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.catalog.ServerPlan;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/// Servers that users bring themselves, as a repository: `github/OWNER/NAME: {installCmd, runCmd, envs}`.
///
/// They are cloned, installed and run in their side sandbox, by whoever connects first; who comes meanwhile waits.
///
/// @param base where repositories lie; ends in a slash
record CustomServers(String base) {
    private static final String PREFIX = "github/";
    private static final Pattern KEY = Pattern.compile("github/([A-Za-z0-9_.-]{1,100})/([A-Za-z0-9_.-]{1,100})");
    private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    /// How long a server may take until it says hello: all this happens before.
    static final Duration INSTALL_LIMIT = Duration.ofMinutes(10);

    /// Standard output is for messages alone, and what is said on standard error at the end is the reason that
    /// users get to read: so it says in a line what went wrong, and of what was printed on the way only the end.
    private static final String SCRIPT = """
            set -eu
            cd "$HOME"
            exec 9> .cay-mcp.lock
            flock 9
            fail() { echo "$1" >&2; tail -c 300 .cay-mcp.log >&2; exit 1; }
            if [ ! -e .cay-mcp-ready ]; then
                rm -rf server
                GIT_TERMINAL_PROMPT=0 git clone --quiet --depth 1 "$1" server > .cay-mcp.log 2>&1 < /dev/null ||
                    fail "$1 cannot be cloned; is it there, and public?"
                if [ -n "$2" ]; then
                    (cd server && exec sh -c "$2") > .cay-mcp.log 2>&1 < /dev/null ||
                        fail "installCmd ended with status $?:"
                fi
                touch .cay-mcp-ready
            fi
            exec 9>&-
            cd server
            shift 2
            exec "$@"
            """;

    static boolean isOne(String key) {
        return key.startsWith(PREFIX);
    }

    ServerPlan plan(String key, JsonNode options) {
        var name = KEY.matcher(key);
        if (!name.matches() || name.group(1).startsWith(".") || name.group(2).startsWith(".")) {
            throw invalid("mcp.%s is no repository; write github/OWNER/NAME".formatted(Texts.brief(key)));
        }
        String run = text(key, options, "runCmd").strip();
        if (run.isEmpty()) {
            throw invalid("mcp.%s.runCmd is missing: the command that starts the server".formatted(key));
        }
        var line = new ArrayList<>(List.of(
                "bash",
                "-c",
                SCRIPT,
                "mcp-server",
                "%s%s/%s.git".formatted(base, name.group(1), name.group(2)),
                text(key, options, "installCmd").strip()));
        line.addAll(List.of(run.split("\\s+")));
        return ServerPlan.of(new LaunchPlan(
                key,
                key,
                new LaunchPlan.Command(line),
                variables(key, options.path("envs")),
                List.of(),
                null,
                CatalogServer.Network.OPEN,
                true,
                false));
    }

    private static String text(String key, JsonNode options, String option) {
        var value = options.path(option);
        if (!value.isMissingNode() && !value.isNull() && !value.isString()) {
            throw invalid("mcp.%s.%s must be a text".formatted(key, option));
        }
        return value.asString("");
    }

    private static Map<String, String> variables(String key, JsonNode envs) {
        var variables = new LinkedHashMap<String, String>();
        envs.forEachEntry((name, value) -> {
            if (!VARIABLE.matcher(name).matches()
                    || !value.isString()
                    || value.asString().indexOf('\0') >= 0) {
                throw invalid("mcp.%s.envs must have names of variables with texts".formatted(key));
            }
            variables.put(name, value.asString());
        });
        return variables;
    }

    private static CayException invalid(String message) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, message);
    }
}
