package dev.cay.server.build;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Audit;
import dev.cay.server.access.Caller;
import dev.cay.server.access.KeyScope;
import dev.cay.server.access.SandboxTokens;
import dev.cay.server.template.Templates;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import dev.cay.wire.node.NodeBuilds;
import dev.cay.wire.rest.FileUpload;
import java.time.Duration;
import java.time.InstantSource;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Routes by which clients send the files that steps copy: they request a link, and put an archive there without a key.
///
/// The link is signed, for one team, one hash and half an hour, and ends with the key that it was given to.
public final class FileRoutes {
    private static final Duration VALID = Duration.ofMinutes(30);

    /// A client that sends nothing for so long counts as disconnected.
    private static final Duration SILENCE = Duration.ofMinutes(2);

    private static final KeyScope MAKES_TEMPLATES = KeyScope.parse("templates");
    private static final Pattern HASH = Pattern.compile("[0-9a-f]{64}");

    private final Access access;
    private final Templates templates;
    private final NodeBuilds node;
    private final SandboxTokens tokens;
    private final InstantSource clock;
    private final long mostBytes;

    /// @param mostBytes of one archive
    FileRoutes(
            Access access,
            Templates templates,
            NodeBuilds node,
            SandboxTokens tokens,
            InstantSource clock,
            long mostBytes) {
        this.access = access;
        this.templates = templates;
        this.node = node;
        this.tokens = tokens;
        this.clock = clock;
        this.mostBytes = mostBytes;
    }

    public void addTo(Routes routes) {
        routes.on("GET", "/templates/{templateID}/files/{hash}", access.guardCaller(this::link));
        routes.on("PUT", "/templates/{templateID}/files/{hash}/content", access.guardToken(this::put));
    }

    private void link(Caller caller, Exchange exchange) {
        var team = caller.team();
        var template = templates.requireOwn(team, exchange.parameter("templateID"));
        String hash = hash(exchange);
        long until = clock.instant().plus(VALID).getEpochSecond();
        String holder = access.holders().name(caller);
        String url = "%s://%s/templates/%s/files/%s/content?team=%s&holder=%s&until=%d&signature=%s"
                .formatted(
                        scheme(exchange),
                        exchange.authority(),
                        template.id(),
                        hash,
                        team.id(),
                        holder,
                        until,
                        tokens.upload(team.id(), hash, until, holder).value());
        exchange.sendJson(201, new FileUpload(node.hasFiles(team.id(), hash), url));
    }

    private static String scheme(Exchange exchange) {
        String forwarded = exchange.header("X-Forwarded-Proto");
        boolean secure = exchange.secure() || "https".equalsIgnoreCase(forwarded);
        return secure ? "https" : "http";
    }

    private void put(Exchange exchange, Audit.Act act) throws Exception {
        String hash = hash(exchange);
        var team = new TeamId(require(exchange, "team"));
        long until = number(require(exchange, "until"));
        String holder = require(exchange, "holder");
        if (!tokens.upload(team, hash, until, holder).matches(exchange.query("signature"))
                || until < clock.instant().getEpochSecond()) {
            throw new CayException(
                    ErrorKind.PERMISSION_DENIED, "this link is not valid, or not any more; ask for a new one");
        }
        act.byToken(team, "link", "signed link");
        String length = exchange.header("Content-Length");
        if (length == null) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "the header 'Content-Length' is required");
        }
        long bytes = number(length);
        if (bytes > mostBytes) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "the archive has %d MB, and may have %d; let the operator raise templates.maxUploadMB"
                            .formatted(bytes >> 20, mostBytes >> 20));
        }
        access.holders().serve(holder, team, MAKES_TEMPLATES, exchange, () -> {
            node.putFiles(team, hash, exchange.body(SILENCE), bytes);
            exchange.send(200);
        });
    }

    private static String hash(Exchange exchange) {
        String hash = exchange.parameter("hash");
        if (!HASH.matcher(hash).matches()) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "the hash of files must be 64 digits of 0-9 and a-f in lower case");
        }
        return hash;
    }

    private static String require(Exchange exchange, String name) {
        String value = exchange.query(name);
        if (value == null) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "the query parameter '%s' is missing".formatted(name));
        }
        return value;
    }

    private static long number(@Nullable String text) {
        try {
            return Long.parseLong(String.valueOf(text));
        } catch (NumberFormatException e) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "'%s' is no whole number".formatted(text), e);
        }
    }
}
