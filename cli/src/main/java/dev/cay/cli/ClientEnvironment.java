package dev.cay.cli;

import dev.cay.cli.local.RunFile;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import tools.jackson.databind.json.JsonMapper;

/// The variables E2B's clients read, and how shells want them written.
final class ClientEnvironment {
    /// How clients reach sandboxes. With both sets of variables exported the URLs carry the SDK's own requests, and
    /// the domain is used wherever a host name per sandbox is needed.
    enum Mode {
        BOTH,
        DOMAIN,
        URL;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    enum Shell {
        BASH,
        FISH,
        JSON;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private ClientEnvironment() {}

    /// The variables of commands, which open pages of this server in browsers.
    ///
    /// @param url where browsers reach the API
    static Map<String, String> pages(String url) {
        return Map.of("E2B_DOCS_BASE", url + "/docs", "E2B_DASHBOARD_BASE", url + "/dashboard");
    }

    static Map<String, String> variables(RunFile daemon, String key, Mode mode) {
        var variables = new LinkedHashMap<String, String>();
        variables.put("E2B_API_KEY", key);
        if (mode != Mode.URL) {
            variables.put("E2B_DOMAIN", daemon.domain());
        }
        if (mode != Mode.DOMAIN) {
            variables.put("E2B_API_URL", daemon.url());
            variables.put("E2B_SANDBOX_URL", daemon.url());
            variables.put("E2B_VOLUME_API_URL", daemon.url());
        }
        // Also for plain URLs, because users' own servers inside sandboxes are always reached by TLS.
        variables.put("NODE_EXTRA_CA_CERTS", daemon.caCertificate());
        variables.put("SSL_CERT_FILE", daemon.bundle());
        return variables;
    }

    static String write(Map<String, String> variables, Shell shell) {
        return switch (shell) {
            case BASH -> lines(variables, "export %s=%s", "'", Map.of("'", "'\\''"));
            case FISH -> lines(variables, "set -gx %s %s", "'", Map.of("\\", "\\\\", "'", "\\'"));
            case JSON -> new JsonMapper().writerWithDefaultPrettyPrinter().writeValueAsString(variables);
        };
    }

    private static String lines(Map<String, String> variables, String form, String quote, Map<String, String> escapes) {
        return variables.entrySet().stream()
                .map(entry -> form.formatted(entry.getKey(), quote + escape(entry.getValue(), escapes) + quote))
                .collect(Collectors.joining("\n"));
    }

    private static String escape(String text, Map<String, String> escapes) {
        return text.chars()
                .mapToObj(Character::toString)
                .map(character -> escapes.getOrDefault(character, character))
                .collect(Collectors.joining());
    }
}
