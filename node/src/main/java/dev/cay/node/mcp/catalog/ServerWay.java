package dev.cay.node.mcp.catalog;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// One way to start a server, with what this way needs and the other ways of the entry do not.
///
/// @param env       variables that are set after those of the entry; one that is empty is not set
/// @param arguments what follows the program instead of the arguments of the entry; null for those of the entry
/// @param hosts     `host:port` that the server reaches instead of those of the entry; empty for those of the entry
/// @param see       where the vendor documents this way; null for nowhere
public record ServerWay(
        ServerLaunch launch,
        Map<String, Template> env,
        @Nullable List<Template> arguments,
        List<String> hosts,
        @Nullable String see) {
    public ServerWay {
        env = Collections.unmodifiableMap(new LinkedHashMap<>(env));
        arguments = arguments == null ? null : List.copyOf(arguments);
        hosts = List.copyOf(hosts);
    }

    /// As in the files: `remote`, `command`, `npm` or `image`.
    public String word() {
        return launch.word();
    }

    /// Whether Cay takes this way without a word of the operator.
    boolean isUsable() {
        return !(launch instanceof ServerLaunch.Npm npm) || npm.confirmed();
    }

    /// The same way, which the operator has chosen.
    ServerWay confirmed() {
        return launch instanceof ServerLaunch.Npm npm
                ? new ServerWay(
                        new ServerLaunch.Npm(npm.packageName(), npm.version(), npm.bin(), true),
                        env,
                        arguments,
                        hosts,
                        see)
                : this;
    }

    /// Every template but those of variables.
    Stream<Template> templates() {
        var own = arguments == null ? Stream.<Template>empty() : arguments.stream();
        return Stream.concat(
                own,
                switch (launch) {
                    case ServerLaunch.Remote remote ->
                        Stream.concat(Stream.of(remote.url()), remote.headers().values().stream());
                    case ServerLaunch.Command command -> command.line().stream();
                    case ServerLaunch.Npm _, ServerLaunch.Image _ -> Stream.empty();
                });
    }
}
