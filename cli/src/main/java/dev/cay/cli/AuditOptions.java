package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.server.access.AdminToken;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/// The filter of audit log entries, and the credentials: root sees all, other users the entries of the team of their
/// own key.
final class AuditOptions {
    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Option(names = "--team", paramLabel = "TEAM", description = "Slug, name or id of a team. Needs root.")
    private @Nullable String team;

    @Option(names = "--sandbox", paramLabel = "ID", description = "Entries about one sandbox.")
    private @Nullable String sandbox;

    @Option(names = "--actor", paramLabel = "ACTOR", description = "key:ID, person:ID, operator, daemon or unknown.")
    private @Nullable String actor;

    @Option(
            names = "--action",
            paramLabel = "ACTION",
            description = "Like sandbox.create, or sandbox for all of these.")
    private @Nullable String action;

    @Option(names = "--since", paramLabel = "TIME", description = "From then on: 2h, 7d, or 2026-12-31T00:00:00Z.")
    private @Nullable String since;

    @Option(names = "--until", paramLabel = "TIME", description = "Before then.")
    private @Nullable String until;

    private boolean isOperator() {
        return Files.isReadable(AdminToken.in(options.config().stateDir()).file());
    }

    Api api() {
        return isOperator() ? Api.ofOperator(options) : Api.of(options);
    }

    /// A page of entries.
    ///
    /// @param more further query parameters
    JsonNode page(Api api, Map<String, String> more) {
        var query = new LinkedHashMap<String, String>(more);
        put(query, "team", team == null || !isOperator() ? team : TeamCommand.id(api, team));
        put(query, "sandbox", sandbox);
        put(query, "actor", actor);
        put(query, "action", action);
        put(query, "since", time("--since", since));
        put(query, "until", time("--until", until));
        if (team != null && !isOperator()) {
            throw new CayException(
                    ErrorKind.PERMISSION_DENIED, "--team needs root; without it you see your own team's");
        }
        String text = query.entrySet().stream()
                .map(one -> one.getKey() + "=" + URLEncoder.encode(one.getValue(), StandardCharsets.UTF_8))
                .collect(Collectors.joining("&"));
        return api.call("GET", (isOperator() ? "/admin/audit?" : "/audit?") + text, null);
    }

    private static void put(Map<String, String> query, String name, @Nullable String value) {
        if (value != null) {
            query.put(name, value);
        }
    }

    private static @Nullable String time(String option, @Nullable String text) {
        if (text == null) {
            return null;
        }
        if (text.matches("\\d{1,6}[smhd]")) {
            return Instant.now().minus(KeyCommand.duration(text)).toString();
        }
        try {
            return OffsetDateTime.parse(text).toInstant().toString();
        } catch (DateTimeException e) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "%s is '%s'; write a time like 2h, 7d or 2026-12-31T00:00:00Z".formatted(option, text));
        }
    }

    /// The API for requests that only the operator may send.
    Api operator() {
        return Api.ofOperator(options);
    }
}
