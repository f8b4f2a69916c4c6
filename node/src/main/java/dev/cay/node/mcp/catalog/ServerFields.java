package dev.cay.node.mcp.catalog;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Reads an entry of a catalog. Templates are checked against its options and variables here, so that errors do not
/// wait until a user needs the entry.
final class ServerFields {
    private static final Pattern KEY = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_-]{0,63}");
    private static final Pattern ANY = Pattern.compile(".{1,200}");
    private static final Pattern KIND = Pattern.compile("secret|setting");
    private static final Pattern TYPE = Pattern.compile("string|integer|number|boolean|list");

    private final String key;
    private final Fields entry;

    private ServerFields(String key, Fields entry) {
        this.key = key;
        this.entry = entry;
    }

    static CatalogServer read(String key, Fields entry) {
        return new ServerFields(key, entry).read();
    }

    private CatalogServer read() {
        if (!KEY.matcher(key).matches()) {
            entry.problem("is no key; it takes up to 64 letters, digits, - and _");
        }
        var server = new CatalogServer(
                key,
                entry.text("name", KEY, "up to 64 letters, digits, - and _").orElse(key),
                entry.requireText("title", ANY, "what people call it"),
                entry.requireText("category", ANY, "a word, like search"),
                entry.texts("tags"),
                entry.texts("words"),
                entry.text("source").orElse(null),
                ways(),
                options(),
                entry.listsOfTexts("anyOf"),
                needs(),
                entry.flag("longLived"),
                entry.flag("needsConfigForTools"),
                oauth().orElse(null));
        entry.end();
        checkTogether(server);
        return server;
    }

    private List<ServerWay> ways() {
        var launch = entry.section("launch");
        if (launch.isEmpty()) {
            entry.problem("launch", "is missing; it must hold remote, command, npm or image");
        }
        var ways = launch.map(fields -> LaunchFields.read(fields, false)).orElse(List.of());
        if (launch.isPresent() && ways.isEmpty()) {
            entry.problem("launch", "must hold remote, command, npm or image");
        }
        return ways;
    }

    private Map<String, CatalogServer.Option> options() {
        var options = new LinkedHashMap<String, CatalogServer.Option>();
        entry.section("options").ifPresent(section -> {
            for (String name : section.names()) {
                if (!Fields.VARIABLE.matcher(name).matches()) {
                    section.problem(name, "is no name of an option; it takes letters and digits");
                }
                section.section(name).ifPresent(fields -> options.put(name, option(name, fields)));
            }
        });
        return options;
    }

    private static CatalogServer.Option option(String name, Fields fields) {
        String kind = fields.requireText("kind", KIND, "secret or setting");
        String type = fields.text("type", TYPE, "string, integer, number, boolean or list")
                .orElse("string");
        var option = new CatalogServer.Option(
                name,
                kind.equals("setting") ? CatalogServer.Kind.SETTING : CatalogServer.Kind.SECRET,
                CatalogServer.Type.valueOf(type.toUpperCase(Locale.ROOT)),
                fields.text("env", Fields.VARIABLE, "the name of a variable").orElse(null),
                fields.texts("values"),
                fields.flag("required"));
        fields.end();
        return option;
    }

    private CatalogServer.Needs needs() {
        return new CatalogServer.Needs(
                entry.variables("env"),
                entry.templates("arguments"),
                entry.templates("volumes"),
                entry.template("user").orElse(null),
                network());
    }

    private CatalogServer.Network network() {
        return entry.section("network")
                .map(section -> {
                    var network =
                            new CatalogServer.Network(section.flag("disabled"), LaunchFields.hosts(section, "allow"));
                    section.end();
                    return network;
                })
                .orElse(new CatalogServer.Network(false, List.of()));
    }

    private Optional<CatalogServer.OAuth> oauth() {
        return entry.section("oauth").map(section -> {
            var oauth = new CatalogServer.OAuth(
                    section.requireText("provider", ANY, "a word, like github"),
                    section.requireText("option", Fields.VARIABLE, "the name of an option"));
            section.end();
            return oauth;
        });
    }

    private void checkTogether(CatalogServer server) {
        var options = server.options().keySet();
        if (!server.anyOf().stream().allMatch(options::containsAll)) {
            entry.problem("anyOf", "names an option that does not exist");
        }
        var oauth = server.oauth();
        if (oauth != null && !options.contains(oauth.option())) {
            entry.problem("oauth", "names an option that does not exist");
        }
        boolean packed = server.launch(ServerLaunch.Npm.class).isPresent()
                || server.launch(ServerLaunch.Image.class).isPresent();
        if (!server.needs().arguments().isEmpty() && !packed) {
            entry.problem("arguments", "are for npm and image; write them into command");
        }
        var known = new LinkedHashSet<String>();
        server.options()
                .values()
                .forEach(option -> Optional.ofNullable(option.env())
                        .filter(name -> !known.add(name))
                        .ifPresent(name ->
                                entry.problem("options", "set the variable %s more than once".formatted(name))));
        checkVariables(entry, "env", server, server.needs().env(), known);
        var needs = server.needs();
        check(entry, "arguments", needs.arguments().stream(), options, known);
        check(entry, "volumes", needs.volumes().stream(), options, known);
        check(entry, "user", Stream.ofNullable(needs.user()), options, known);
        server.ways().forEach(way -> checkWay(entry, server, way, known));
    }

    /// @param known names of variables that are set before those of the way
    static void checkWay(Fields fields, CatalogServer server, ServerWay way, Set<String> known) {
        var all = new LinkedHashSet<>(known);
        checkVariables(fields, "launch.%s.env".formatted(way.word()), server, way.env(), all);
        check(fields, "launch", way.templates(), server.options().keySet(), all);
    }

    /// A variable sees those before it.
    ///
    /// @param place the field that holds them
    /// @param known grows by the names of `env`
    static void checkVariables(
            Fields fields, String place, CatalogServer server, Map<String, Template> env, Set<String> known) {
        env.forEach((name, template) -> {
            check(
                    fields,
                    place + "." + name,
                    Stream.of(template),
                    server.options().keySet(),
                    known);
            known.add(name);
        });
    }

    static void check(
            Fields fields, String field, Stream<Template> templates, Set<String> options, Set<String> variables) {
        templates.flatMap(template -> template.references().stream()).forEach(reference -> {
            boolean option = reference.source() == Template.Source.OPTION;
            if (!(option ? options : variables).contains(reference.name())) {
                fields.problem(
                        field,
                        option
                                ? "refers to cfg.%s, which is not among the options".formatted(reference.name())
                                : "refers to variable %s, which is not set before; $$ is a dollar"
                                        .formatted(reference.name()));
            }
        });
    }
}
