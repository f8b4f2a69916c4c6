package dev.cay.server.network;

import dev.cay.server.access.Caller;
import dev.cay.server.access.KeyScope;
import dev.cay.server.access.SandboxTokens;
import dev.cay.server.request.RequestBody;
import dev.cay.web.Addresses;
import dev.cay.web.Dialer;
import dev.cay.wire.SystemPorts;
import dev.cay.wire.node.Egress;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads the network fields of a sandbox's request, and refuses invalid ones.
public final class NetworkReader implements AutoCloseable {
    private static final int MOST_HTTPS_PORTS = 128;
    private static final List<String> EGRESS = List.of("allowOut", "denyOut", "rules", "egressProxy");
    private static final List<String> OWN = List.of("inspect", "observe");
    private static final String INTERNET = "allow_internet_access";
    private static final Pattern HOST =
            Pattern.compile("[A-Za-z0-9]([A-Za-z0-9._-]|\\$\\{PORT})*(:(\\d{1,5}|\\$\\{PORT}))?");

    private final Dialer dialer;
    private final ProxyPasswords passwords;
    private final EgressProxies proxies;
    private final HeaderRules headerRules;
    private final TemplateNetworks templates;
    private final TeamNetworks teams;

    /// @param open         places in the operator's network that sandboxes may connect to, as `address:port`
    /// @param secrets      who may have which secrets sent
    public NetworkReader(
            SandboxTokens tokens,
            TemplateNetworks templates,
            TeamNetworks teams,
            Set<String> open,
            SecretCheck secrets) {
        this(
                tokens,
                templates,
                teams,
                secrets,
                new Dialer(new Dialer.Rules(Addresses.allowing(List.of()), open, true, "network.openAddresses")));
    }

    private NetworkReader(
            SandboxTokens tokens, TemplateNetworks templates, TeamNetworks teams, SecretCheck secrets, Dialer dialer) {
        this.dialer = dialer;
        this.passwords = new ProxyPasswords(tokens);
        this.proxies = new EgressProxies(dialer, passwords);
        this.headerRules = new HeaderRules(secrets);
        this.templates = templates;
        this.teams = teams;
    }

    /// The network of a new sandbox. The template's default holds if nothing is said about egress, and the team's where
    /// the template has none; clients say always that there shall be internet access, so that is no choice.
    ///
    /// @param body of the create
    public SandboxNetwork create(Caller caller, RequestBody body) {
        var network = body.object("network");
        String mask = network.text("maskRequestHost");
        if (mask != null && !(mask.length() <= 255 && HOST.matcher(mask).matches())) {
            throw RequestBody.invalid(
                    "'network.maskRequestHost' must be a host name with or without a port; ${PORT} stands for the target port");
        }
        Boolean internet = body.bool(INTERNET);
        boolean said = Boolean.FALSE.equals(internet)
                || EGRESS.stream().anyMatch(network::says)
                || OWN.stream().anyMatch(network::has);
        var choice = said
                ? choice(caller, network, internet)
                : templates
                        .find(caller.team(), body.text("templateID"))
                        .or(() -> teams.find(caller.team().id()))
                        .orElse(new EgressChoice(internet, EgressWish.NONE));
        return SandboxNetwork.of(
                !Boolean.FALSE.equals(network.bool("allowPublicTraffic")),
                mask,
                httpsPorts(network),
                IdentityReader.read(body),
                choice);
    }

    /// The network after a change: all egress fields are replaced, and absent ones are reset.
    ///
    /// @param body of the change
    public SandboxNetwork update(Caller caller, RequestBody body, SandboxNetwork old) {
        return old.with(choice(caller, body));
    }

    /// The egress fields of a change.
    public EgressChoice choice(Caller caller, RequestBody body) {
        return choice(caller, body, body.bool(INTERNET));
    }

    /// The rules in the node's form.
    public Egress egress(SandboxNetwork network) {
        return network.egress(passwords::open);
    }

    /// The same with the given tokens, for callers that have them.
    public static Egress egress(SandboxNetwork network, SandboxTokens tokens) {
        return network.egress(new ProxyPasswords(tokens)::open);
    }

    private EgressChoice choice(Caller caller, RequestBody network, @Nullable Boolean internet) {
        var allow = Destinations.allowed(network);
        var deny = Destinations.denied(network);
        var rules = headerRules.read(caller, network);
        var wish = new EgressWish(
                allow,
                deny,
                rules.rules(),
                proxies.read(caller.team().id(), network),
                rules.inspect() || Boolean.TRUE.equals(network.bool("inspect")),
                rules.observe() || Boolean.TRUE.equals(network.bool("observe")),
                (rules.rules().isEmpty() || caller.scope().equals(KeyScope.ALL)) ? null : true);
        boolean names = allow.stream()
                .anyMatch(entry -> !Egress.Destination.parse(entry).isAddress());
        if (names && !deny.contains(EgressWish.ALL)) {
            throw Destinations.refusal(
                    "allowOut names domains, so denyOut must contain 0.0.0.0/0: otherwise all other hosts are allowed, too");
        }
        return new EgressChoice(internet, wish);
    }

    private static @Nullable List<Integer> httpsPorts(RequestBody network) {
        var ports = network.integers("httpsPorts");
        if (ports.size() > MOST_HTTPS_PORTS) {
            throw RequestBody.invalid(
                    "'network.httpsPorts' has %d ports, and may have %d".formatted(ports.size(), MOST_HTTPS_PORTS));
        }
        if (new HashSet<>(ports).size() < ports.size()) {
            throw RequestBody.invalid("'network.httpsPorts' has a port twice");
        }
        for (int port : ports) {
            if (port < 1 || port > 65_535 || port == SystemPorts.ENVD) {
                throw RequestBody.invalid(
                        "'network.httpsPorts' has %d: ports are from 1 to 65535, and %d is served by Cay itself"
                                .formatted(port, SystemPorts.ENVD));
            }
        }
        return ports.isEmpty() ? null : ports;
    }

    @Override
    public void close() {
        dialer.close();
    }
}
