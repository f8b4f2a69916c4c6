package dev.cay.server.audit;

import dev.cay.http.ErrorRenderer;
import dev.cay.http.Exchange;
import dev.cay.server.access.Audit;
import dev.cay.server.access.Caller;
import dev.cay.server.access.Credential;
import dev.cay.server.access.TeamKey;
import dev.cay.wire.TeamId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Makes the audit entry of a request. It takes ids from the path and from the handler's notes, the address of the
/// connection, and the masked key. It never reads bodies, queries or names.
final class RequestAct implements Audit.Act {
    /// Texts of this shape in a path are ids that Cay made; anything else may be a name, or a secret in a wrong place.
    private static final Map<String, Pattern> SHAPES = Map.of(
            "sandboxID", Pattern.compile("i[a-z0-9]{20}"),
            "templateID", Pattern.compile("[a-z0-9]{20}"),
            "secretID", Pattern.compile("sec_[a-z0-9]{20}"));

    private static final Pattern UUID = Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");

    private static final Set<Integer> REFUSED = Set.of(401, 403, 404, 429);

    /// Where browsers are sent to, which can only read, and come with what changes something.
    private static final Set<String> CHANGING_READS = Set.of("/mcp/oauth/callback");

    private static final int NOT_SERVED = 501;

    /// Receives completed entries.
    interface Recorder {
        /// @param result `ok`, `refused` or `failed`
        /// @param sender key or address whose failures are counted together
        void add(boolean changes, String result, String sender, Draft draft);
    }

    /// An entry but for its time.
    record Draft(
            String action,
            String actor,
            @Nullable String team,
            @Nullable String sandbox,
            Map<String, String> facts) {}

    private final Exchange exchange;
    private final Recorder recorder;
    private boolean operator;
    private @Nullable Caller caller;
    private @Nullable String token;
    private String tokenIs = "";
    private @Nullable TeamId tokenTeam;

    /// A key that the request made for a person, beside what its route says.
    private record Mint(TeamKey rights, TeamKey key) {}

    private final List<Mint> mints = new ArrayList<>();

    RequestAct(Exchange exchange, Recorder recorder) {
        this.exchange = exchange;
        this.recorder = recorder;
    }

    @Override
    public void byOperator() {
        operator = true;
    }

    @Override
    public void by(Caller known) {
        caller = known;
    }

    @Override
    public void byToken(TeamId team, String what, String tokenCredential) {
        token = what;
        tokenIs = tokenCredential;
        tokenTeam = team;
    }

    @Override
    public void minted(TeamKey rights, TeamKey key) {
        mints.add(new Mint(rights, key));
    }

    @Override
    public void end(@Nullable Exception failure) {
        int status = failure == null ? exchange.status() : ErrorRenderer.status(failure);
        if (status == NOT_SERVED) {
            return;
        }
        String result = status < 400 ? "ok" : isRefused(status) ? "refused" : "failed";
        var facts = facts(result, status);
        for (var mint : mints) {
            recorder.add(true, result, sender(), draft(mint, facts));
        }
        var ids = ids();
        ids.forEach((kind, id) -> {
            if (!kind.equals("sandbox") && !kind.equals("team")) {
                facts.put(kind, id);
            }
        });
        recorder.add(
                changes(),
                result,
                sender(),
                new Draft(
                        ActionNames.of(exchange.method(), exchange.route()),
                        actor(),
                        team(ids),
                        ids.get("sandbox"),
                        facts));
    }

    private boolean changes() {
        boolean reads = exchange.method().equals("GET") || exchange.method().equals("HEAD");
        return !reads || CHANGING_READS.contains(exchange.route());
    }

    /// What every entry says.
    private Map<String, String> facts(String result, int status) {
        var facts = new TreeMap<String, String>();
        facts.put("result", result);
        facts.put("status", Integer.toString(status));
        facts.put("request", exchange.method() + " " + exchange.route());
        facts.put("address", exchange.peer());
        var inside = exchange.inside();
        if (inside != null) {
            facts.put("fromSandbox", inside.value());
        }
        facts.put("credential", credential());
        var key = caller == null ? null : caller.key();
        if (key != null && key.person() != null && !key.isOfPerson()) {
            // A revoked key is in no list any more, and the entry has to name its owner all the same.
            facts.put("person", key.person());
        }
        return facts;
    }

    private static Draft draft(Mint mint, Map<String, String> common) {
        var facts = new TreeMap<>(common);
        facts.put("key", mint.key().id());
        return new Draft(
                "key.mint",
                "person:" + mint.rights().person(),
                mint.rights().team().id().value(),
                null,
                facts);
    }

    /// Whether the status counts as refused. 404 does: the id may belong to another team, and the sender may be probing
    /// for ids.
    private boolean isRefused(int status) {
        return REFUSED.contains(status)
                && (status != 404 || !exchange.parameters().isEmpty());
    }

    /// Several of one kind are joined. What the handler notes wins over the path, which may hold a name.
    private Map<String, String> ids() {
        var ids = new TreeMap<String, String>();
        exchange.parameters().forEach((name, value) -> {
            if (SHAPES.getOrDefault(name, UUID).matcher(value).matches()) {
                ids.put(kind(name), value);
            }
        });
        var noted = new TreeMap<String, String>();
        exchange.subjects().forEach(subject -> noted.merge(subject.getKey(), subject.getValue(), "%s,%s"::formatted));
        ids.putAll(noted);
        return ids;
    }

    private static String kind(String parameter) {
        return parameter.equals("apiKeyID") ? "key" : parameter.replaceAll("ID$", "");
    }

    private String actor() {
        var key = caller == null ? null : caller.key();
        if (key != null) {
            return key.isOfPerson() ? "person:" + key.person() : "key:" + key.id();
        }
        return operator ? "operator" : token != null ? token : "unknown";
    }

    private @Nullable String team(Map<String, String> ids) {
        // Without a valid credential, the team that a request names must not get an entry.
        if (tokenTeam != null) {
            return tokenTeam.value();
        }
        return caller != null ? caller.team().id().value() : operator ? ids.get("team") : null;
    }

    /// The credential masked as in a list of keys.
    private String credential() {
        var key = caller == null ? null : caller.key();
        if (token != null) {
            return tokenIs;
        }
        return key != null ? key.masked() : operator ? "admin token" : Credential.masked(exchange);
    }

    private String sender() {
        String actor = actor();
        return actor.equals("unknown") ? network(exchange.peer()) : actor;
    }

    /// The network of an address: one machine has many IPv6 addresses, which share a /64.
    static String network(String address) {
        var parts = address.split(":", -1);
        return parts.length < 5 ? address : String.join(":", parts[0], parts[1], parts[2], parts[3]) + "::";
    }
}
