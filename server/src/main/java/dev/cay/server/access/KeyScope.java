package dev.cay.server.access;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The permissions of an API key. A request that no rule here allows needs a key with the scope `all`.
///
/// @param sandbox the sandbox of a key for one sandbox; else null
public record KeyScope(Kind kind, @Nullable SandboxId sandbox) {
    public static final KeyScope ALL = new KeyScope(Kind.ALL, null);

    public enum Kind {
        ALL("all"),
        READ("read"),
        SANDBOXES("sandboxes"),
        TEMPLATES("templates"),
        SANDBOX("sandbox");

        private final String word;

        Kind(String word) {
            this.word = word;
        }
    }

    private static final String HELP = "all, read, sandboxes, templates, or sandbox:ID";

    /// A link by which files can be written is handed out on GET.
    private static final Set<String> LINKS = Set.of("/templates/{templateID}/files/{hash}");

    /// Where snapshots are deleted too; the handler sees whether it is one.
    private static final String SNAPSHOT = "/templates/{templateID}";

    private static final Set<String> READABLE =
            Set.of("sandboxes", "snapshots", "events", "templates", "builds", "teams", "api-keys", "volumes");

    /// Routes that create something that does not belong to the sandbox.
    private static final Set<String> BEYOND_SANDBOX =
            Set.of("/sandboxes/{sandboxID}/fork", "/sandboxes/{sandboxID}/snapshots");

    /// The facts about a request on which permission depends.
    ///
    /// @param route      like `/sandboxes/{sandboxID}`
    /// @param parameters the values in it
    record Request(String method, String route, Map<String, String> parameters) {
        boolean reads() {
            return method.equals("GET") || method.equals("HEAD");
        }

        /// The first word of the route behind its version, or behind the prefix of the dashboard API.
        String area() {
            var parts = List.of(route.substring(1).split("/"));
            return parts.getFirst().matches("v\\d|dashboard-api") && parts.size() > 1 ? parts.get(1) : parts.getFirst();
        }
    }

    /// The right to do all in one sandbox.
    public static KeyScope of(SandboxId sandbox) {
        return new KeyScope(Kind.SANDBOX, sandbox);
    }

    /// The scope that a request asks for; `all` if it asks for none.
    ///
    /// @param owner the team of a sandbox that lives
    /// @throws CayException if it is no scope, or for a sandbox that the team does not have; one of another team
    ///                      counts as missing
    public static KeyScope wanted(@Nullable String text, TeamId team, Function<SandboxId, Optional<TeamId>> owner) {
        var wanted = text == null ? ALL : parse(text);
        var id = wanted.sandbox();
        if (id != null && !owner.apply(id).equals(Optional.of(team))) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "'scope' is for the sandbox '%s', which the team does not have; `GET /v2/sandboxes` lists those it has"
                            .formatted(id));
        }
        return wanted;
    }

    /// @throws CayException if it is no scope
    public static KeyScope parse(String text) {
        if (text.startsWith("sandbox:")) {
            return ofSandbox(text);
        }
        for (var kind : Kind.values()) {
            if (kind.word.equals(text) && kind != Kind.SANDBOX) {
                return new KeyScope(kind, null);
            }
        }
        throw notOne(text);
    }

    private static KeyScope ofSandbox(String text) {
        try {
            return of(SandboxId.parse(text.substring("sandbox:".length())));
        } catch (CayException _) {
            throw notOne(text);
        }
    }

    private static CayException notOne(String text) {
        return new CayException(
                ErrorKind.INVALID_ARGUMENT, "'scope' must be %s, not '%s'".formatted(HELP, shortened(text)));
    }

    private static String shortened(String text) {
        return text.length() <= 40 ? text : text.substring(0, 40) + "...";
    }

    boolean allows(Request request) {
        boolean reads = request.reads();
        String area = request.area();
        return switch (kind) {
            case ALL -> true;
            case READ -> reads && READABLE.contains(area) && !LINKS.contains(request.route());
            case SANDBOXES ->
                area.equals("sandboxes")
                        || area.equals("snapshots")
                        || (request.method().equals("DELETE") && request.route().equals(SNAPSHOT))
                        || (reads && (area.equals("teams") || request.route().startsWith("/events/sandboxes")));
            case TEMPLATES -> area.equals("templates") || (reads && (area.equals("builds") || area.equals("teams")));
            case SANDBOX -> (reads && request.route().equals("/teams")) || isOfSandbox(request);
        };
    }

    private boolean isOfSandbox(Request request) {
        return sandbox != null
                && sandbox.value().equals(request.parameters().get("sandboxID"))
                && !BEYOND_SANDBOX.contains(request.route())
                && (request.area().equals("sandboxes") || request.reads());
    }

    /// The scopes that allow requests by a route, as words.
    ///
    /// @param route like `/sandboxes/{sandboxID}`
    public static List<String> allowing(String method, String route) {
        var any = new SandboxId("any");
        var parameters = route.contains("{sandboxID}") ? Map.of("sandboxID", any.value()) : Map.<String, String>of();
        var request = new Request(method, route, parameters);
        return Arrays.stream(Kind.values())
                .filter(kind -> new KeyScope(kind, kind == Kind.SANDBOX ? any : null).allows(request))
                .map(kind -> kind.word)
                .toList();
    }

    /// Whether this scope allows everything that the other one allows.
    public boolean covers(KeyScope other) {
        return kind == Kind.ALL || equals(other) || (kind == Kind.SANDBOXES && other.kind == Kind.SANDBOX);
    }

    /// Whether answers may have the tokens of a sandbox, which permit every change in it.
    public boolean opensSandboxes() {
        return kind != Kind.READ;
    }

    /// Whether this sandbox of the key's team is one of those.
    public boolean opens(SandboxId id) {
        return switch (kind) {
            case ALL, SANDBOXES -> true;
            case SANDBOX -> id.equals(sandbox);
            case READ, TEMPLATES -> false;
        };
    }

    /// Refuses to delete a snapshot or another template that is not of the kind that this scope is for.
    public void requireDeletes(boolean snapshot) {
        if (kind == (snapshot ? Kind.TEMPLATES : Kind.SANDBOXES)) {
            throw new CayException(
                    ErrorKind.PERMISSION_DENIED,
                    "a key with the scope %s deletes no %s".formatted(this, snapshot ? "snapshots" : "templates"));
        }
    }

    @Override
    public String toString() {
        return sandbox == null ? kind.word : "%s:%s".formatted(kind.word, sandbox);
    }
}
