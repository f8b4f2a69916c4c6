package dev.cay.node.mcp.catalog;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// One way to start a server, with the settings that the other ways of the entry do not have.
///
/// @param env       variables that are set after those of the entry; an empty one is not set
/// @param arguments arguments of the program in place of the entry's; null for those of the entry
/// @param hosts     `host:port` that the server reaches in place of the entry's; empty for those of the entry
/// @param see       the vendor's documentation of this way; null for none
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

    /// The word in the files: `remote`, `command`, `npm` or `image`.
    public String word() {
        return launch.word();
    }

    /// Whether Cay takes this way without a word of the operator.
    boolean isUsable() {
        return !(launch instanceof ServerLaunch.Npm npm) || npm.confirmed();
    }

    /// A copy that the operator has confirmed.
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

    /// All templates but those of variables.
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
