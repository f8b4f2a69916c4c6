package dev.cay.node.mcp.catalog;

import dev.cay.node.mcp.catalog.Template.Reference;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Inserts a user's options into the templates of an entry. Secrets become variables first, then settings, then the
/// entry's own variables and those of the way, which may refer to earlier ones; all other templates may refer to any
/// variable.
final class Filling {
    private static final Pattern CONTROL = Pattern.compile("[\\x00-\\x08\\x0a-\\x1f\\x7f]");

    /// No dots that lead upwards, and no colon, which would name another target.
    private static final Pattern PATH = Pattern.compile("/(?!(.*/)?\\.\\.?(/|$))[^:\\x00-\\x1f]*");

    /// Half of what Linux takes for all arguments and variables together.
    private static final int MOST = 1_000_000;

    private final CatalogServer server;
    private final ServerOverride override;
    private final GivenOptions given;
    private final ServerWay way;
    private final Map<String, Value> variables = new LinkedHashMap<>();

    private Filling(CatalogServer server, ServerOverride override, GivenOptions given, ServerWay way) {
        this.server = server;
        this.override = override;
        this.given = given;
        this.way = way;
    }

    static ServerPlan fill(CatalogServer server, ServerOverride override, List<ServerWay> ways, JsonNode options) {
        var given = GivenOptions.read(server, options);
        var plans = ways.stream()
                .map(way -> new Filling(server, override, given, way).plan())
                .toList();
        return new ServerPlan(server.key(), server.name(), override.tools(), given.warnings(), plans);
    }

    private void setVariables() {
        Stream.of(CatalogServer.Kind.values())
                .flatMap(kind -> server.options().values().stream().filter(option -> option.kind() == kind))
                .forEach(option -> set(option.env(), given.value(option.name())));
        server.needs().env().forEach((name, template) -> set(name, template.evaluate(this::value)));
        way.env().forEach((name, template) -> set(name, template.evaluate(this::value)));
        override.env().forEach((name, template) -> {
            // An operator's value may be a credential, however it was made.
            set(name, Value.of(template.evaluate(this::value).text(), true));
        });
    }

    private void set(@Nullable String name, Value value) {
        if (name != null && value.isEmpty()) {
            variables.remove(name);
        } else if (name != null) {
            variables.put(name, value);
        }
    }

    private Value value(Reference reference) {
        return switch (reference.source()) {
            case OPTION -> given.value(reference.name());
            case VARIABLE -> variables.getOrDefault(reference.name(), Value.NOTHING);
        };
    }

    private LaunchPlan plan() {
        setVariables();
        var needs = server.needs();
        var launch = way.launch();
        boolean remote = launch instanceof ServerLaunch.Remote;
        var own = way.arguments();
        var line = switch (launch) {
            case ServerLaunch.Npm _, ServerLaunch.Image _ -> arguments(own == null ? needs.arguments() : own);
            case ServerLaunch.Command command -> arguments(command.line());
            case ServerLaunch.Remote _ -> List.<Value>of();
        };
        var environment = new LinkedHashMap<String, String>();
        variables.forEach((name, value) -> environment.put(name, value.text()));
        refuseTooMuch(
                Stream.concat(environment.values().stream(), line.stream().flatMap(value -> value.items().stream())));
        var user = needs.user();
        var start = start(launch, line);
        return new LaunchPlan(
                server.key(),
                server.name(),
                start,
                remote ? Map.of() : environment,
                remote ? List.of() : volumes(),
                remote || user == null ? null : user(user),
                network(start),
                server.longLived(),
                line.stream().anyMatch(Value::secret));
    }

    private CatalogServer.Network network(LaunchPlan.Start start) {
        var usual = server.needs().network();
        if (start instanceof LaunchPlan.Remote remote) {
            return new CatalogServer.Network(false, List.of(remote.host()));
        }
        return way.hosts().isEmpty() ? usual : new CatalogServer.Network(usual.disabled(), way.hosts());
    }

    private void refuseTooMuch(Stream<String> texts) {
        var sizes = texts.mapToLong(text -> text.getBytes(StandardCharsets.UTF_8).length)
                .summaryStatistics();
        if (sizes.getMax() > GivenOptions.LONGEST || sizes.getSum() > MOST) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "the options of mcp.%s are together longer than a program can be given; shorten them"
                            .formatted(server.key()));
        }
    }

    private LaunchPlan.Start start(ServerLaunch launch, List<Value> line) {
        var words = line.stream().flatMap(value -> value.items().stream()).toList();
        return switch (launch) {
            case ServerLaunch.Remote remote -> remote(remote);
            case ServerLaunch.Command command -> new LaunchPlan.Command(words, command.files());
            case ServerLaunch.Npm npm -> new LaunchPlan.Npm(npm.packageName(), npm.version(), npm.bin(), words);
            case ServerLaunch.Image image -> new LaunchPlan.Image(image.reference(), words, image.port());
        };
    }

    private LaunchPlan.Remote remote(ServerLaunch.Remote remote) {
        var headers = new LinkedHashMap<String, String>();
        remote.headers().forEach((name, template) -> {
            var references = template.references();
            // `Bearer` without a token would be an invalid header.
            if (references.isEmpty()
                    || !references.stream().allMatch(each -> value(each).isEmpty())) {
                headers.put(name, header(template));
            }
        });
        return new LaunchPlan.Remote(url(remote.url()), remote.transport(), headers);
    }

    private String header(Template template) {
        String text = template.evaluate(this::value).text();
        if (CONTROL.matcher(text).find()) {
            throw wrong(template, "has a line break or another character that no header can have");
        }
        return text;
    }

    private URI url(Template template) {
        try {
            var url = new URI(template.evaluate(this::value).text());
            boolean http = "https".equalsIgnoreCase(url.getScheme()) || "http".equalsIgnoreCase(url.getScheme());
            if (http && url.getHost() != null && url.getUserInfo() == null) {
                return url;
            }
        } catch (URISyntaxException _) {
            // Without the cause, which quotes the address and may contain a credential.
        }
        throw wrong(template, "does not make a valid address, like https://example.org/mcp");
    }

    private List<Value> arguments(List<Template> templates) {
        var arguments = new ArrayList<Value>();
        for (Template template : templates) {
            arguments.add(notAFlag(template, template.evaluate(this::value)));
        }
        return arguments;
    }

    private Value notAFlag(Template template, Value value) {
        if (template.beginsWithValue() && value.items().stream().anyMatch(item -> item.startsWith("-"))) {
            throw wrong(template, "begins with -, which would be read as a flag");
        }
        return value;
    }

    private @Nullable String user(Template template) {
        String text = notAFlag(template, template.evaluate(this::value)).text();
        if (CONTROL.matcher(text).find()) {
            throw wrong(template, "has a line break or another character that no user's name can have");
        }
        return text.isEmpty() ? null : text;
    }

    private List<LaunchPlan.Volume> volumes() {
        return server.needs().volumes().stream().flatMap(this::volume).toList();
    }

    /// A volume without a source or target is left out.
    private Stream<LaunchPlan.Volume> volume(Template template) {
        Function<Reference, Value> paths = reference -> {
            var value = value(reference);
            if (!value.items().stream()
                    .allMatch(item -> item.isEmpty() || PATH.matcher(item).matches())) {
                throw wrong(template, "must be an absolute path without .. and colons");
            }
            return value;
        };
        return template.evaluate(paths).items().stream()
                .map(mount -> mount.split(":", 3))
                .filter(sides -> sides.length > 1 && !sides[0].isEmpty() && !sides[1].isEmpty())
                .map(sides -> new LaunchPlan.Volume(sides[0], sides[1], sides.length > 2 && sides[2].equals("ro")));
    }

    /// The error that names the option with an invalid value.
    private CayException wrong(Template template, String what) {
        String names = String.join(
                " or ",
                template.references().stream().map(this::optionOf).distinct().toList());
        return new CayException(
                ErrorKind.INVALID_ARGUMENT, "%s %s".formatted(names.isEmpty() ? "mcp." + server.key() : names, what));
    }

    private String optionOf(Reference reference) {
        String option = reference.source() == Template.Source.OPTION
                ? reference.name()
                : server.options().values().stream()
                        .filter(each -> Optional.ofNullable(each.env())
                                .filter(reference.name()::equals)
                                .isPresent())
                        .map(CatalogServer.Option::name)
                        .findFirst()
                        .orElse(reference.name());
        return "mcp.%s.%s".formatted(server.key(), option);
    }
}
