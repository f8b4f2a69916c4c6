package dev.cay.node.mcp.catalog;

import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// What an operator writes about an entry in section `mcp.servers`.
final class OverrideFields {
    private static final Pattern NPM = Pattern.compile("npm");

    private OverrideFields() {}

    static ServerOverride read(CatalogServer server, Fields entry) {
        var override = new ServerOverride(
                launch(server, entry),
                entry.templateMap("env", ServerFields.VARIABLE, "the name of a variable"),
                entry.flag("disabled"),
                entry.section("tools").map(OverrideFields::tools).orElse(ServerOverride.NONE.tools()));
        entry.end();
        var known = server.variables();
        ServerFields.checkVariables(entry, server, override.env(), known);
        var launch = override.launch();
        if (launch != null) {
            ServerFields.check(
                    entry,
                    "launch",
                    LaunchFields.templates(launch),
                    server.options().keySet(),
                    known);
        }
        return override;
    }

    /// The word alone confirms the package that the entry names.
    private static @Nullable ServerLaunch launch(CatalogServer server, Fields entry) {
        if (entry.isText("launch")) {
            var npm = server.launch(ServerLaunch.Npm.class);
            if (entry.text("launch", NPM, "npm, or hold remote, command or npm").isPresent() && npm.isEmpty()) {
                entry.problem("launch", "is npm, but the entry names no package; write npm: {package, version, bin}");
            }
            return npm.map(found -> new ServerLaunch.Npm(found.packageName(), found.version(), found.bin(), true))
                    .orElse(null);
        }
        return entry.section("launch").flatMap(OverrideFields::one).orElse(null);
    }

    private static Optional<ServerLaunch> one(Fields launch) {
        var found = Stream.of(LaunchFields.remote(launch), LaunchFields.command(launch), LaunchFields.npm(launch, true))
                .flatMap(Optional::stream)
                .toList();
        if (launch.names().stream().filter(name -> !name.equals("files")).count() != 1) {
            launch.problem("must hold one of remote, command and npm");
        }
        launch.end();
        return found.stream().findFirst();
    }

    private static ServerOverride.Tools tools(Fields section) {
        var tools =
                new ServerOverride.Tools(section.texts("allow"), section.texts("deny"), !section.flag("unprefixed"));
        section.end();
        return tools;
    }
}
