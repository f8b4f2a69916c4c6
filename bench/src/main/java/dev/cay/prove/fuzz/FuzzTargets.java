package dev.cay.prove.fuzz;

import dev.cay.life.Undo;
import dev.cay.platform.OwnCay;
import dev.cay.platform.RemoteSandbox;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;

/// All targets, against one daemon.
public final class FuzzTargets {
    public static final List<String> NAMES =
            List.of("heads", "frames", "multipart", "paths", "guest", "layers", "dockerfiles");

    private static final Duration LIFE = Duration.ofHours(1);

    private final OwnCay cay;
    private final URI url;
    private final String key;
    private final DaemonPorts doors;

    public FuzzTargets(OwnCay cay) {
        this.cay = cay;
        this.url = cay.url();
        this.key = cay.key();
        this.doors = new DaemonPorts(cay.port(), cay.tlsPort());
    }

    /// A sandbox in which nothing is wrong, to see that it stays so.
    public RemoteSandbox neighbour() throws IOException, InterruptedException {
        return RemoteSandbox.create(url, key, LIFE);
    }

    /// A target with a sandbox of its own.
    public Target open(String name) throws IOException, InterruptedException {
        try (var undo = new Undo()) {
            var target = switch (name) {
                case "heads" -> new RequestTarget(name, new HeadInputs(doors, key), undo.add(prey("", false)));
                case "frames" ->
                    new RequestTarget(
                            name,
                            new Http1Inputs(doors::mostlyPlain, RpcInputs::request),
                            undo.add(prey(PathStrings.PREPARE, true)));
                case "multipart" ->
                    new RequestTarget(
                            name,
                            new Http1Inputs(doors::mostlyPlain, MultipartInputs::request),
                            undo.add(prey("", true)));
                case "paths" ->
                    new RequestTarget(
                            name,
                            new Http1Inputs(_ -> doors.plain(), PathInputs::request),
                            undo.add(prey(PathStrings.PREPARE, true)));
                case "guest" -> new GuestTarget(neighbour(), cay.directory().resolve("run"));
                case "layers" -> new LayerTarget();
                case "dockerfiles" -> new DockerfileTarget();
                default ->
                    throw new CayException(
                            ErrorKind.INVALID_ARGUMENT,
                            "there is no target named %s; there are: %s".formatted(name, String.join(", ", NAMES)));
            };
            undo.keep();
            return target;
        }
    }

    private FuzzedSandbox prey(String script, boolean mayBeRuined) throws IOException, InterruptedException {
        return new FuzzedSandbox(url, key, script, mayBeRuined);
    }
}
