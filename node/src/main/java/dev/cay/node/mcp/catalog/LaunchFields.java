package dev.cay.node.mcp.catalog;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/// The ways to start a server as they are written in files.
final class LaunchFields {
    private static final List<String> NAMES = List.of("remote", "command", "npm", "image", "files");
    private static final Pattern PACKAGE = Pattern.compile("(@[a-z0-9~][a-z0-9._~-]*/)?[a-z0-9~][a-z0-9._~-]*");
    private static final Pattern VERSION = Pattern.compile("[0-9]+\\.[0-9]+\\.[0-9]+([.+-][0-9A-Za-z.+-]*)?");
    private static final Pattern PROGRAM = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]*");
    private static final Pattern URL = Pattern.compile("(https?://|\\$\\{).*");
    private static final Pattern PAGE = Pattern.compile("https://\\S+");
    private static final Pattern HEADER = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");
    private static final Pattern TRANSPORT = Pattern.compile("streamable-http|sse");
    private static final Pattern HOST = Pattern.compile("(\\*|[a-z0-9.-]+):[0-9]{1,5}");

    /// The name of an image without a registry's host: the registry is a field of its own, and a host in the name
    /// would bypass it.
    private static final Pattern IMAGE = Pattern.compile(
            "(?![^/]*[.:][^/]*/)[a-z0-9._-]+(/[a-z0-9._-]+)*(:[A-Za-z0-9._-]+)?(@sha256:[0-9a-f]{64})?");

    private static final Pattern HOST_PATH = Pattern.compile("/[^\\x00]+");
    private static final Pattern PORT = Pattern.compile("[1-9][0-9]{0,4}");
    private static final Pattern PATH = Pattern.compile("/[^\\s?#]*");
    private static final Pattern WORD = Pattern.compile("[a-z][a-z0-9-]*");

    private LaunchFields() {}

    /// The ways in the order of the file.
    ///
    /// @param confirmed whether packages need no confirmation
    static List<ServerWay> read(Fields launch, boolean confirmed) {
        NAMES.forEach(launch::has);
        if (launch.has("files") && !launch.has("command")) {
            launch.problem("files", "are for a command, which is missing");
        }
        var ways = new ArrayList<ServerWay>();
        for (String name : launch.names()) {
            var way = switch (name) {
                case "remote" -> launch.section(name).map(LaunchFields::remote);
                case "command" -> command(launch);
                case "npm" -> launch.section(name).map(npm -> npm(npm, confirmed));
                case "image" -> launch.section(name).map(LaunchFields::image);
                default -> Optional.<ServerWay>empty();
            };
            way.ifPresent(ways::add);
        }
        launch.end();
        return ways;
    }

    /// Reads a remote way. Its host is that of its address, and it has no variables and arguments.
    private static ServerWay remote(Fields remote) {
        remote.requireText("url", URL, "an address that begins with https:// or http://");
        var url = remote.template("url").orElseGet(() -> Template.parse(""));
        var transport = remote.text("transport", TRANSPORT, "streamable-http or sse")
                .orElse(ServerLaunch.Transport.STREAMABLE_HTTP.word());
        var headers = remote.templateMap("headers", HEADER, "the name of a header");
        var see = see(remote);
        remote.end();
        return new ServerWay(
                new ServerLaunch.Remote(url, transport(transport), headers),
                Map.of(),
                null,
                List.of(),
                see.orElse(null));
    }

    private static ServerLaunch.Transport transport(String word) {
        return ServerLaunch.Transport.valueOf(word.toUpperCase(Locale.ROOT).replace('-', '_'));
    }

    private static Optional<ServerWay> command(Fields launch) {
        var files =
                launch.text("files", HOST_PATH, "an absolute path of this host").map(Path::of);
        var line = launch.templates("command");
        if (line.isEmpty()
                || line.getFirst().text().isEmpty()
                || !line.getFirst().references().isEmpty()) {
            launch.problem("command", "must be a list that begins with a program, whose name is no template");
            return Optional.empty();
        }
        return Optional.of(
                new ServerWay(new ServerLaunch.Command(line, files.orElse(null)), Map.of(), null, List.of(), null));
    }

    private static ServerWay npm(Fields npm, boolean confirmed) {
        String name = npm.requireText("package", PACKAGE, "the name of a package, like @scope/name");
        String version = npm.requireText("version", VERSION, "one version, like 1.2.3");
        String bin = npm.requireText("bin", PROGRAM, "the name of one of its programs");
        boolean sure = npm.flag("confirmed") || confirmed;
        return way(npm, new ServerLaunch.Npm(name, version, bin, sure));
    }

    private static ServerWay image(Fields image) {
        String name =
                image.requireText("name", IMAGE, "a name without a host, like owner/name:tag or owner/name@sha256:...");
        String registry = image.text("registry", WORD, "a word for a registry, not its host")
                .orElse(null);
        var port = image.section("port").map(LaunchFields::port).orElse(null);
        return way(image, new ServerLaunch.Image(name, registry, port));
    }

    private static ServerLaunch.Port port(Fields port) {
        String number = port.requireText("number", PORT, "a port, like 8080");
        String path = port.text("path", PATH, "a path, like /mcp").orElse("/mcp");
        String transport = port.text("transport", TRANSPORT, "streamable-http or sse")
                .orElse(ServerLaunch.Transport.STREAMABLE_HTTP.word());
        port.end();
        return new ServerLaunch.Port(number.isEmpty() ? 0 : Integer.parseInt(number), path, transport(transport));
    }

    /// Reads the fields of a way that runs here.
    private static ServerWay way(Fields fields, ServerLaunch launch) {
        var way = new ServerWay(
                launch,
                fields.variables("env"),
                fields.has("arguments") ? fields.templates("arguments") : null,
                hosts(fields, "hosts"),
                see(fields).orElse(null));
        fields.end();
        return way;
    }

    private static Optional<String> see(Fields fields) {
        return fields.text("see", PAGE, "the address of a page, which begins with https://");
    }

    static List<String> hosts(Fields fields, String name) {
        var hosts = fields.texts(name);
        if (!hosts.stream().allMatch(host -> HOST.matcher(host).matches())) {
            fields.problem(name, "must be a list of host:port");
        }
        return hosts;
    }
}
