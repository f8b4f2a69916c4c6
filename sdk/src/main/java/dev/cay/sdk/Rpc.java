package dev.cay.sdk;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Calls the services of a sandbox by the Connect protocol with JSON.
final class Rpc {
    /// How often the sandbox sends a keepalive on a silent stream.
    private static final Duration SIGN_OF_LIFE = Duration.ofSeconds(50);

    private final SandboxEndpoint door;
    private final Http http;
    private final @Nullable String user;

    Rpc(SandboxEndpoint door, Http http, @Nullable String user) {
        this.door = door;
        this.http = http;
        this.user = user;
    }

    Rpc as(@Nullable String other) {
        return new Rpc(door, http, other);
    }

    JsonNode call(String method, Map<String, ?> message) {
        var request = request(method)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofByteArray(Http.JSON.writeValueAsBytes(message)));
        return http.json(request.build());
    }

    /// @param limit time after which the sandbox ends the call; zero for never
    Frames stream(String method, Map<String, ?> message, Duration limit) {
        var request = request(method)
                .header("Content-Type", "application/connect+json")
                .header("Keepalive-Ping-Interval", Long.toString(SIGN_OF_LIFE.toSeconds()))
                .POST(BodyPublishers.ofByteArray(framed(Http.JSON.writeValueAsBytes(message))));
        if (limit.isPositive()) {
            request.header("Connect-Timeout-Ms", Long.toString(limit.toMillis()));
        }
        return new Frames(http, http.open(request.build()).body(), SIGN_OF_LIFE.multipliedBy(3));
    }

    private HttpRequest.Builder request(String method) {
        var request = door.request(SandboxEndpoint.SYSTEM, "/" + method).header("Connect-Protocol-Version", "1");
        SandboxEndpoint.as(request, user);
        return request;
    }

    private static byte[] framed(byte[] message) {
        var bytes = new ByteArrayOutputStream(message.length + Frames.HEAD);
        try (var out = new DataOutputStream(bytes)) {
            out.writeByte(0);
            out.writeInt(message.length);
            out.write(message);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }
}
