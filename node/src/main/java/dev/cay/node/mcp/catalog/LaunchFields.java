package dev.cay.node.mcp.catalog;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// The ways to start a server as they are written in files.
final class LaunchFields {
    private static final Pattern PACKAGE = Pattern.compile("(@[a-z0-9~][a-z0-9._~-]*/)?[a-z0-9~][a-z0-9._~-]*");
    private static final Pattern VERSION = Pattern.compile("[0-9]+\\.[0-9]+\\.[0-9]+([.+-][0-9A-Za-z.+-]*)?");
    private static final Pattern PROGRAM = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]*");
    private static final Pattern URL = Pattern.compile("(https?://|\\$\\{).*");
    private static final Pattern HEADER = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");
    private static final Pattern TRANSPORT = Pattern.compile("streamable-http|sse");

    /// A registry is a word: where images lie is known elsewhere, and a host name in front would pass it by.
    private static final Pattern IMAGE =
            Pattern.compile("(?![^/]*[.:][^/]*/)[a-z0-9._-]+(/[a-z0-9._-]+)*(:[A-Za-z0-9._-]+)?");

    private static final Pattern HOST_PATH = Pattern.compile("/[^\\x00]+");
    private static final Pattern WORD = Pattern.compile("[a-z][a-z0-9-]*");

    private LaunchFields() {}

    static Optional<ServerLaunch> remote(Fields launch) {
        return launch.section("remote").map(remote -> {
            remote.requireText("url", URL, "an address that begins with https:// or http://");
            var url = remote.template("url").orElseGet(() -> Template.parse(""));
            var transport = remote.text("transport", TRANSPORT, "streamable-http or sse")
                    .orElse(ServerLaunch.Transport.STREAMABLE_HTTP.word());
            var headers = remote.templateMap("headers", HEADER, "the name of a header");
            remote.end();
            return new ServerLaunch.Remote(url, transport(transport), headers);
        });
    }

    private static ServerLaunch.Transport transport(String word) {
        return ServerLaunch.Transport.valueOf(word.toUpperCase(Locale.ROOT).replace('-', '_'));
    }

    static Optional<ServerLaunch> command(Fields launch) {
        var files =
                launch.text("files", HOST_PATH, "an absolute path of this host").map(Path::of);
        if (!launch.has("command")) {
            if (launch.has("files")) {
                launch.problem("files", "are for a command, which is missing");
            }
            return Optional.empty();
        }
        var line = launch.templates("command");
        if (line.isEmpty()
                || line.getFirst().text().isEmpty()
                || !line.getFirst().references().isEmpty()) {
            launch.problem("command", "must be a list that begins with a program, whose name is no template");
            return Optional.empty();
        }
        return Optional.of(new ServerLaunch.Command(line, files.orElse(null)));
    }

    /// @param confirmed where nobody needs to say so
    static Optional<ServerLaunch> npm(Fields launch, boolean confirmed) {
        return launch.section("npm").map(npm -> {
            String name = npm.requireText("package", PACKAGE, "the name of a package, like @scope/name");
            String version = npm.requireText("version", VERSION, "one version, like 1.2.3");
            String bin = npm.requireText("bin", PROGRAM, "the name of one of its programs");
            boolean sure = confirmed || npm.flag("confirmed");
            npm.end();
            return new ServerLaunch.Npm(name, version, bin, sure);
        });
    }

    static Optional<ServerLaunch> image(Fields launch) {
        return launch.section("image").map(image -> {
            String name = image.requireText("name", IMAGE, "a name without a host, like owner/name:tag");
            String registry = image.text("registry", WORD, "a word for a registry, not its host")
                    .orElse(null);
            image.end();
            return new ServerLaunch.Image(name, registry);
        });
    }

    /// Every template of it.
    static Stream<Template> templates(ServerLaunch launch) {
        return switch (launch) {
            case ServerLaunch.Remote remote ->
                Stream.concat(Stream.of(remote.url()), remote.headers().values().stream());
            case ServerLaunch.Command command -> command.line().stream();
            case ServerLaunch.Npm _, ServerLaunch.Image _ -> Stream.empty();
        };
    }
}
