package dev.cay.node.mcp;

import dev.cay.node.mcp.catalog.CatalogServer;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.catalog.ServerPlan;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/// Servers that users bring themselves, as a repository: `github/OWNER/NAME: {installCmd, runCmd, envs}`.
///
/// `runCmd` is split at blanks and gets `envs`. `installCmd` is a shell's, and gets none of them: what it
/// writes is kept in a layer for all sandboxes of the team.
///
/// @param base where repositories lie; ends in a slash
record CustomServers(String base) {
    private static final String PREFIX = "github/";
    private static final Pattern KEY = Pattern.compile("github/([A-Za-z0-9_.-]{1,100})/([A-Za-z0-9_.-]{1,100})");
    private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    /// How long a server may take to answer `initialize`: `runCmd` may download files first.
    static final Duration HELLO_LIMIT = Duration.ofMinutes(10);

    static boolean isOne(String key) {
        return key.startsWith(PREFIX);
    }

    ServerPlan plan(String key, JsonNode options) {
        var name = KEY.matcher(key);
        if (!name.matches() || name.group(1).startsWith(".") || name.group(2).startsWith(".")) {
            throw invalid("mcp.%s is no repository; write github/OWNER/NAME".formatted(Texts.brief(key)));
        }
        String run = text(key, options, "runCmd", "run_cmd").strip();
        if (run.isEmpty()) {
            throw invalid("mcp.%s.runCmd is missing: the command that starts the server".formatted(key));
        }
        String url = "%s%s/%s.git".formatted(base, name.group(1), name.group(2));
        String install = text(key, options, "installCmd", "install_cmd").strip();
        return ServerPlan.of(new LaunchPlan(
                key,
                key,
                new LaunchPlan.Repository(key, url, install, List.of(run.split("\\s+"))),
                variables(key, options.path("envs")),
                List.of(),
                null,
                CatalogServer.Network.OPEN,
                true,
                false));
    }

    /// @param python how Python's client spells it
    private static String text(String key, JsonNode options, String usual, String python) {
        String option = options.has(usual) ? usual : options.has(python) ? python : usual;
        var value = options.path(option);
        if (!value.isMissingNode() && !value.isNull() && !value.isString()) {
            throw invalid("mcp.%s.%s must be a text".formatted(key, option));
        }
        if (value.asString("").indexOf('\0') >= 0) {
            throw invalid("mcp.%s.%s must not hold the character NUL".formatted(key, option));
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
