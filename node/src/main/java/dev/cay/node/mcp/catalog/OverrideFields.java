package dev.cay.node.mcp.catalog;

import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Reads an entry of section `mcp.servers`.
final class OverrideFields {
    private static final Pattern NPM = Pattern.compile("npm");
    private static final Pattern WAY = Pattern.compile("remote|npm|image|command");
    private static final Pattern VISIBLE = Pattern.compile("[\\x20-\\x7e]{1,2048}");
    private static final Pattern ISSUER = Pattern.compile("https?://[^\\s#?]{1,2000}");

    private OverrideFields() {}

    static ServerOverride read(CatalogServer server, Fields entry) {
        var override = new ServerOverride(
                way(server, entry).orElse(null),
                entry.variables("env"),
                entry.flag("disabled"),
                entry.section("tools").map(OverrideFields::tools).orElse(ServerOverride.NONE.tools()),
                entry.section("oauth").map(OverrideFields::oauth).orElse(null));
        entry.end();
        var known = server.variables();
        var way = override.way();
        if (way != null) {
            ServerFields.checkWay(entry, server, way, known);
        }
        ServerFields.checkVariables(entry, "env", server, override.env(), known);
        return override;
    }

    /// The only way to take, if the operator chose one: one of the entry's, or another.
    private static Optional<ServerWay> way(CatalogServer server, Fields entry) {
        if (entry.has("way") && entry.has("launch")) {
            entry.problem("way", "and launch both say how it is started; keep one");
            return Optional.empty();
        }
        if (entry.isText("launch")) {
            var npm = server.way("npm");
            if (entry.text("launch", NPM, "npm, or hold remote, command, npm or image")
                            .isPresent()
                    && npm.isEmpty()) {
                entry.problem("launch", "is npm, but the entry names no package; write npm: {package, version, bin}");
            }
            return npm.map(ServerWay::confirmed);
        }
        var word = entry.text("way", WAY, "remote, npm, image or command");
        return word.isPresent()
                ? named(server, entry, word.get())
                : entry.section("launch").flatMap(OverrideFields::one);
    }

    private static Optional<ServerWay> named(CatalogServer server, Fields entry, String word) {
        var way = server.way(word);
        if (way.isEmpty()) {
            entry.problem(
                    "way",
                    "is %s, but the entry has only %s"
                            .formatted(
                                    word,
                                    server.ways().stream().map(ServerWay::word).collect(Collectors.joining(" and "))));
        }
        return way.map(ServerWay::confirmed);
    }

    private static Optional<ServerWay> one(Fields launch) {
        if (launch.names().stream().filter(name -> !name.equals("files")).count() != 1) {
            launch.problem("must hold one of remote, command, npm and image");
        }
        return LaunchFields.read(launch, true).stream().findFirst();
    }

    /// Reads OAuth settings. A client secret needs an issuer, because a hostile server could name an authorization
    /// server that must not see it.
    private static ServerOverride.OAuth oauth(Fields section) {
        var oauth = new ServerOverride.OAuth(
                section.text("clientId", VISIBLE, "an id without line breaks").orElse(null),
                section.text("clientSecret", VISIBLE, "a text without line breaks")
                        .orElse(null),
                section.text("issuer", ISSUER, "an address like https://login.example.org")
                        .orElse(null),
                section.texts("scopes"));
        if (oauth.clientSecret() != null && (oauth.clientId() == null || oauth.issuer() == null)) {
            section.problem("clientSecret", "needs clientId, and issuer: the authorization server it may be shown to");
        }
        section.end();
        return oauth;
    }

    private static ServerOverride.Tools tools(Fields section) {
        var tools =
                new ServerOverride.Tools(section.texts("allow"), section.texts("deny"), !section.flag("unprefixed"));
        section.end();
        return tools;
    }
}
