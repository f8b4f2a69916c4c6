package dev.cay.prove.fuzz;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.cay.wire.SystemPorts;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.zip.GZIPOutputStream;

/// A request of HTTP/1.1 as bytes, right or wrong.
final class RawRequest {

    private final String method;
    private final String target;
    private final List<String> headers = new ArrayList<>();

    RawRequest(String method, String target) {
        this.method = method;
        this.target = target;
    }

    /// To the system port of a sandbox, with all it needs to be let in.
    static RawRequest toSandbox(FuzzedSandbox.Name sandbox, String method, String target) {
        return new RawRequest(method, target)
                .with("Host", "localhost")
                .with("E2b-Sandbox-Id", sandbox.id())
                .with("E2b-Sandbox-Port", Integer.toString(SystemPorts.ENVD))
                .with("X-Access-Token", sandbox.token());
    }

    RawRequest with(String name, String value) {
        headers.add(name + ": " + value);
        return this;
    }

    RawRequest as(String user) {
        return with("Authorization", "Basic " + Base64.getEncoder().encodeToString((user + ":").getBytes(UTF_8)));
    }

    /// With the body as it should be framed, mostly.
    byte[] bytes(Dice dice, byte[] body) {
        return switch (dice.below(20)) {
            case 0 -> framed("Content-Length: " + (body.length + dice.between(1, 9)), body);
            case 1 -> framed("Content-Length: " + Math.max(0, body.length - dice.between(1, 9)), body);
            case 2 -> framed("Transfer-Encoding: chunked", body);
            case 3, 4, 5, 6 -> framed("Transfer-Encoding: chunked", chunked(dice, body));
            default -> framed("Content-Length: " + body.length, body);
        };
    }

    /// Without a body.
    byte[] bytes() {
        return framed("X-Nothing: 1", new byte[0]);
    }

    private byte[] framed(String framing, byte[] body) {
        var out = new ByteArrayOutputStream();
        out.writeBytes("%s %s HTTP/1.1\r\n%s\r\n%s\r\n\r\n"
                .formatted(method, target, String.join("\r\n", headers), framing)
                .getBytes(ISO_8859_1));
        out.writeBytes(body);
        return out.toByteArray();
    }

    private static byte[] chunked(Dice dice, byte[] body) {
        var out = new ByteArrayOutputStream();
        int at = 0;
        while (at < body.length) {
            int size = Math.min(body.length - at, 1 + dice.size(1 << 16));
            out.writeBytes((Integer.toHexString(size) + "\r\n").getBytes(US_ASCII));
            out.write(body, at, size);
            out.writeBytes("\r\n".getBytes(US_ASCII));
            at += size;
        }
        out.writeBytes("0\r\n\r\n".getBytes(US_ASCII));
        return out.toByteArray();
    }

    static byte[] gzip(byte[] bytes) {
        var out = new ByteArrayOutputStream();
        try (var zipped = new GZIPOutputStream(out)) {
            zipped.write(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    static String encoded(String text) {
        return URLEncoder.encode(text, UTF_8);
    }
}
