package dev.cay.server.network;

import dev.cay.server.access.Caller;
import dev.cay.server.request.RequestBody;
import dev.cay.wire.node.Egress;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Checks `rules`: the changes to requests, by host.
final class HeaderRules {
    private static final int MOST_DOMAINS = 10;
    private static final int MOST_DOMAIN = 128;
    private static final int MOST_HEADERS = 20;
    private static final int MOST_NAME = 64;
    private static final int MOST_VALUE = 2048;
    private static final int MOST_SECRETS = 32;

    private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");
    private static final String START = "${e2b.";
    private static final Pattern PLACEHOLDER = Pattern.compile(
            "\\$\\{e2b\\.(secrets\\.(?<secret>[A-Za-z0-9_-]{1,128})|identity\\.tokens\\.(?<token>[^{}\\p{Cntrl}]+))}");

    private static final Pattern SECRET = Pattern.compile("[A-Za-z0-9_-]{1,128}");

    /// The API's names for parts of requests.
    static final Map<Egress.Place, String> PLACES =
            Map.of(Egress.Place.HEADERS, "headers", Egress.Place.QUERY, "query", Egress.Place.BODY, "body");

    /// Headers of the connection, and those that say where a request begins and ends.
    private static final Set<String> NOT_TO_SET = Set.of(
            "host",
            "connection",
            "content-length",
            "transfer-encoding",
            "keep-alive",
            "proxy-connection",
            "te",
            "trailer",
            "upgrade",
            "expect");

    private static final String INSPECT = "inspect";
    private static final String OBSERVE = "observe";
    private static final List<String> SETTINGS = List.of(INSPECT, OBSERVE);
    private static final Egress.Transform NO_CHANGE = new Egress.Transform(Map.of(), null);

    private final SecretCheck secretCheck;

    HeaderRules(SecretCheck secretCheck) {
        this.secretCheck = secretCheck;
    }

    /// The field `rules`.
    ///
    /// @param inspect whether a rule asks to open TLS to all allowed hosts, see {@link Egress#inspect}
    /// @param observe whether a rule asks for a log of all TCP, see {@link Egress#observe}
    record Read(Map<String, Egress.Transform> rules, boolean inspect, boolean observe) {}

    /// E2B's clients send no field of `network` that they do not know, but all that is in a transform. So the settings
    /// `inspect` and `observe` of the sandbox can be there, too.
    ///
    /// @param network what has the field `rules`
    Read read(Caller caller, RequestBody network) {
        var given = network.lists("rules");
        if (given.size() > MOST_DOMAINS) {
            throw Destinations.refusal("Network rules can have at most 10 domains.");
        }
        var rules = new LinkedHashMap<String, Egress.Transform>();
        var secrets = new TreeSet<String>();
        var settings = new HashSet<String>();
        given.forEach((key, list) -> {
            String domain = domain(key);
            if (list.size() > 1) {
                throw Destinations.refusal("Domain \"%s\" can have at most 1 transform rule.".formatted(domain));
            }
            if (list.isEmpty()) {
                return;
            }
            var body = list.getFirst().object("transform");
            var said = SETTINGS.stream().filter(body::has).toList();
            said.stream().filter(name -> Boolean.TRUE.equals(body.bool(name))).forEach(settings::add);
            var transform = transform(domain, body);
            if (!said.isEmpty() && transform.equals(NO_CHANGE)) {
                return;
            }
            if (rules.put(domain, transform) != null) {
                throw RequestBody.invalid("'rules' names \"%s\" twice".formatted(domain));
            }
            secrets.addAll(named(domain, transform));
        });
        if (!secrets.isEmpty()) {
            secretCheck.require(caller, secrets);
        }
        return new Read(rules, settings.contains(INSPECT), settings.contains(OBSERVE));
    }

    /// A port is cut off: clients make keys of host names with a port.
    private static String domain(String key) {
        String lower = key.toLowerCase(Locale.ROOT);
        int colon = lower.indexOf(':');
        boolean port = colon > 0 && Destinations.isPort(lower.substring(colon + 1));
        String domain = port ? lower.substring(0, colon) : lower;
        String plain = domain.endsWith(".") ? domain.substring(0, domain.length() - 1) : domain;
        if (plain.equals("*") || plain.length() > MOST_DOMAIN || !Destinations.isPattern(plain)) {
            throw Destinations.refusal(
                    "Rule domain \"%s\" is not a valid domain name.".formatted(Destinations.shown(key)));
        }
        return plain;
    }

    private static Egress.Transform transform(String domain, RequestBody transform) {
        var headers = transform.map("headers");
        if (headers.size() > MOST_HEADERS) {
            throw Destinations.refusal("Domain \"%s\" can have at most 20 headers per rule.".formatted(domain));
        }
        headers.forEach((name, value) -> check(domain, name, value));
        requireOnce(domain, headers.keySet());
        String redirect = transform.filled("redirect");
        if (redirect != null && !isHost(redirect)) {
            throw RequestBody.invalid("'redirect' of rule domain \"%s\" must be a host name or host:port, not '%s'"
                    .formatted(domain, Destinations.shown(redirect)));
        }
        return new Egress.Transform(
                headers, redirect == null ? null : redirect.toLowerCase(Locale.ROOT), fill(domain, transform));
    }

    /// Cay's own: which placeholders are replaced that the sandbox itself sends.
    private static Egress.@Nullable Fill fill(String domain, RequestBody transform) {
        if (!transform.has("fill")) {
            return null;
        }
        var fill = transform.object("fill");
        var secrets = new TreeSet<String>();
        for (String name : fill.texts("secrets")) {
            if (!SECRET.matcher(name).matches()) {
                throw RequestBody.invalid("'fill.secrets' of rule domain \"%s\" has '%s', which is no name of a secret"
                        .formatted(domain, Destinations.shown(name)));
            }
            secrets.add(name.toLowerCase(Locale.ROOT));
        }
        if (secrets.isEmpty()) {
            throw RequestBody.invalid(
                    "'fill.secrets' of rule domain \"%s\" must name the secrets whose placeholders are replaced"
                            .formatted(domain));
        }
        var places = EnumSet.noneOf(Egress.Place.class);
        for (String place : fill.texts("in")) {
            places.add(PLACES.entrySet().stream()
                    .filter(known -> known.getValue().equals(place))
                    .map(Map.Entry::getKey)
                    .findFirst()
                    .orElseThrow(() -> RequestBody.invalid(
                            "'fill.in' of rule domain \"%s\" has '%s': it may have headers, query and body"
                                    .formatted(domain, Destinations.shown(place)))));
        }
        return new Egress.Fill(secrets, places.isEmpty() ? Set.of(Egress.Place.HEADERS) : places);
    }

    private static boolean isHost(String text) {
        String lower = text.toLowerCase(Locale.ROOT);
        int colon = lower.indexOf(':');
        return colon < 0
                ? Destinations.isName(lower)
                : Destinations.isName(lower.substring(0, colon)) && Destinations.isPort(lower.substring(colon + 1));
    }

    private static void check(String domain, String name, String value) {
        if (name.length() > MOST_NAME || !NAME.matcher(name).matches()) {
            throw RequestBody.invalid(
                    "rule domain \"%s\" has a header named '%s': a name has 1 to %d letters, digits and hyphens"
                            .formatted(domain, Destinations.shown(name), MOST_NAME));
        }
        if (NOT_TO_SET.contains(name.toLowerCase(Locale.ROOT))) {
            throw RequestBody.invalid(
                    "rule domain \"%s\" sets the header '%s', which belongs to the connection".formatted(domain, name));
        }
        if (value.length() > MOST_VALUE || value.chars().anyMatch(HeaderRules::isControl)) {
            throw RequestBody.invalid(
                    "the header '%s' of rule domain \"%s\" must have at most %d characters, and no line ends"
                            .formatted(name, domain, MOST_VALUE));
        }
    }

    /// The case of a header's name means nothing, so only one of two values could be sent.
    private static void requireOnce(String domain, Set<String> names) {
        var seen = new TreeSet<String>(String.CASE_INSENSITIVE_ORDER);
        for (String name : names) {
            if (!seen.add(name)) {
                throw RequestBody.invalid("rule domain \"%s\" sets the header '%s' twice".formatted(domain, name));
            }
        }
    }

    private static boolean isControl(int c) {
        return (c < 0x20 && c != '\t') || c == 0x7f;
    }

    /// The secrets that a rule names.
    private static Set<String> named(String domain, Egress.Transform transform) {
        var own = new TreeSet<String>(
                transform.fill() == null ? Set.of() : transform.fill().secrets());
        for (String value : List.copyOf(transform.headers().values())) {
            if (PLACEHOLDER.matcher(value).replaceAll("").contains(START)) {
                throw Destinations.refusal("Network transform header contains a malformed E2B placeholder.");
            }
            PLACEHOLDER.matcher(value).results().forEach(match -> {
                if (match.group("secret") != null) {
                    own.add(match.group("secret").toLowerCase(Locale.ROOT));
                }
            });
        }
        if (own.size() > MOST_SECRETS) {
            throw Destinations.refusal("Rule domain \"%s\" references more than 32 secrets.".formatted(domain));
        }
        return own;
    }
}
