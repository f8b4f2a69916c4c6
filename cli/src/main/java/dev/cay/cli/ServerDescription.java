package dev.cay.cli;

import dev.cay.node.mcp.catalog.Catalog;
import dev.cay.node.mcp.catalog.CatalogServer;
import dev.cay.node.mcp.catalog.ServerLaunch;
import dev.cay.node.mcp.catalog.ServerWay;
import dev.cay.node.mcp.catalog.Template;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The description of a server, for people and for programs. Of the operator's settings only names are shown.
record ServerDescription(Catalog catalog, CatalogServer server) {
    /// The ways in which it is started here, in order, or why it is not.
    String start() {
        if (catalog.overrideOf(server).disabled()) {
            return "off";
        }
        return ways().isEmpty() ? "npm?" : words(ways(), ",");
    }

    /// The ways to start it here, in the order in which they are tried.
    private List<ServerWay> ways() {
        return catalog.ways(server);
    }

    private static String words(List<ServerWay> ways, String between) {
        return ways.stream().map(ServerWay::word).collect(Collectors.joining(between));
    }

    private boolean launchable() {
        return !ways().isEmpty();
    }

    Map<String, Object> summary() {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("key", server.key());
        fields.put("name", server.name());
        fields.put("title", server.title());
        fields.put("category", server.category());
        fields.put("start", start());
        fields.put("ways", ways().stream().map(ServerWay::word).toList());
        fields.put("launchable", launchable());
        return fields;
    }

    Map<String, Object> all() {
        var fields = summary();
        fields.put("tags", server.tags());
        fields.put("words", server.words());
        fields.put("source", server.source());
        var launch = new LinkedHashMap<String, Object>();
        server.ways().forEach(way -> launch.put(way.word(), facts(way)));
        fields.put("launch", launch);
        fields.put(
                "options",
                server.options().values().stream().map(ServerDescription::facts).toList());
        fields.put("anyOf", server.anyOf());
        var needs = server.needs();
        fields.put("env", texts(needs.env()));
        fields.put("arguments", needs.arguments().stream().map(Template::text).toList());
        fields.put("volumes", needs.volumes().stream().map(Template::text).toList());
        fields.put("user", needs.user() == null ? null : needs.user().text());
        fields.put("network", needs.network());
        fields.put("longLived", server.longLived());
        fields.put("needsConfigForTools", server.needsConfigForTools());
        fields.put("oauth", server.oauth());
        return fields;
    }

    private static Map<String, Object> facts(CatalogServer.Option option) {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("name", option.name());
        fields.put("kind", option.kind().name().toLowerCase(Locale.ROOT));
        fields.put("type", option.type().word());
        fields.put("env", option.env());
        fields.put("values", option.values());
        fields.put("required", option.required());
        return fields;
    }

    private static Map<String, Object> facts(ServerWay way) {
        var fields = facts(way.launch());
        fields.put("env", texts(way.env()));
        fields.put(
                "arguments",
                way.arguments() == null
                        ? null
                        : way.arguments().stream().map(Template::text).toList());
        fields.put("hosts", way.hosts());
        fields.put("see", way.see());
        return fields;
    }

    private static Map<String, Object> facts(ServerLaunch launch) {
        var fields = new LinkedHashMap<String, Object>();
        switch (launch) {
            case ServerLaunch.Remote remote -> {
                fields.put("url", remote.url().text());
                fields.put("transport", remote.transport().word());
                fields.put("headers", texts(remote.headers()));
            }
            case ServerLaunch.Command command -> {
                fields.put("line", command.line().stream().map(Template::text).toList());
                fields.put(
                        "files",
                        command.files() == null ? null : command.files().toString());
            }
            case ServerLaunch.Npm npm -> {
                fields.put("package", npm.packageName());
                fields.put("version", npm.version());
                fields.put("bin", npm.bin());
                fields.put("confirmed", npm.confirmed());
            }
            case ServerLaunch.Image image -> {
                fields.put("name", image.name());
                fields.put("registry", image.registry());
            }
        }
        return fields;
    }

    private static Map<String, String> texts(Map<String, Template> templates) {
        var texts = new LinkedHashMap<String, String>();
        templates.forEach((name, template) -> texts.put(name, template.text()));
        return texts;
    }

    List<String> lines() {
        var lines = new ArrayList<String>();
        lines.add(line("key", server.key()));
        lines.add(line("title", server.title()));
        lines.add(line("category", server.category()));
        if (server.source() != null) {
            lines.add(line("source", server.source()));
        }
        lines.add(line("tools", "named " + server.name() + "-TOOL"));
        lines.add(line("start", startSentence()));
        server.ways().forEach(way -> {
            lines.add(line(way.word(), sentence(way.launch())));
            details(way).forEach(detail -> lines.add(line("", detail)));
        });
        lines.add(line("options", server.options().isEmpty() ? "none" : ""));
        lines.addAll(optionLines());
        if (!server.anyOf().isEmpty()) {
            lines.add(line("any of", or(server.anyOf())));
        }
        lines.add(line("example", example()));
        return lines;
    }

    private static String line(String what, String text) {
        return String.format(Locale.ROOT, "%-9s %s", what, text).stripTrailing();
    }

    private String startSentence() {
        var override = catalog.overrideOf(server);
        String section = "mcp.servers." + server.key();
        if (override.disabled()) {
            return "switched off by " + section;
        }
        if (ways().isEmpty()) {
            return "not here; %s can say how, see docs/mcp.md".formatted(section);
        }
        String how = words(ways(), ", else ");
        return override.way() == null ? how : how + ", as " + section + " says";
    }

    private static String sentence(ServerLaunch launch) {
        return switch (launch) {
            case ServerLaunch.Remote remote ->
                "%s (%s)".formatted(remote.url().text(), remote.transport().word());
            case ServerLaunch.Command command ->
                command.line().getFirst().text() + (command.files() == null ? "" : ", with " + command.files());
            case ServerLaunch.Npm npm ->
                "%s %s%s".formatted(npm.packageName(), npm.version(), npm.confirmed() ? "" : ", not confirmed");
            case ServerLaunch.Image image ->
                image.name() + (image.registry() == null ? "" : " in the registry of " + image.registry());
        };
    }

    /// The requirements and settings of a way.
    private List<String> details(ServerWay way) {
        var details = new ArrayList<String>();
        details.add(
                switch (way.launch()) {
                    case ServerLaunch.Remote _ -> "needs a sandbox that may reach the internet";
                    case ServerLaunch.Command command ->
                        command.files() == null ? "needs nothing but its program" : "needs these files of the host";
                    case ServerLaunch.Npm npm ->
                        npm.confirmed()
                                ? "needs its package, installed here or from the registry of the host's npm"
                                : "needs that an operator confirms it: mcp.servers.%s: {way: npm}"
                                        .formatted(server.key());
                    case ServerLaunch.Image _ -> "needs its image, pulled here or from a registry";
                });
        if (!way.env().isEmpty()) {
            details.add("sets " + String.join(", ", way.env().keySet()));
        }
        if (!way.hosts().isEmpty()) {
            details.add("reaches " + String.join(", ", way.hosts()));
        }
        if (way.see() != null) {
            details.add("see " + way.see());
        }
        return details;
    }

    private List<String> optionLines() {
        int width = server.options().keySet().stream()
                .mapToInt(String::length)
                .max()
                .orElse(1);
        String form = "  %%-%ds %%-7s %%-8s %%-8s %%s".formatted(width);
        return server.options().values().stream()
                .map(option -> String.format(
                                Locale.ROOT,
                                form,
                                option.name(),
                                option.kind().name().toLowerCase(Locale.ROOT),
                                option.type().word(),
                                option.required() ? "required" : "",
                                remark(option))
                        .stripTrailing())
                .toList();
    }

    private static String remark(CatalogServer.Option option) {
        String values = option.values().isEmpty() ? "" : "one of " + String.join(", ", option.values());
        return Stream.of(option.env() == null ? "" : option.env(), values)
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining("; "));
    }

    private static String or(List<List<String>> groups) {
        return groups.stream().map(group -> String.join(" and ", group)).collect(Collectors.joining(", or "));
    }

    /// An example in JavaScript with all required options.
    private String example() {
        var first =
                server.anyOf().isEmpty() ? List.<String>of() : server.anyOf().getFirst();
        String options = server.options().values().stream()
                .filter(option -> option.required() || first.contains(option.name()))
                .map(option -> option.name() + ": " + sample(option))
                .collect(Collectors.joining(", "));
        return "mcp: { %s: {%s} }".formatted(server.key(), options.isEmpty() ? "" : " " + options + " ");
    }

    private static String sample(CatalogServer.Option option) {
        return switch (option.type()) {
            case STRING ->
                option.values().isEmpty() ? "'...'" : "'" + option.values().getFirst() + "'";
            case INTEGER, NUMBER -> "1";
            case BOOLEAN -> "true";
            case LIST -> "['...']";
        };
    }
}
