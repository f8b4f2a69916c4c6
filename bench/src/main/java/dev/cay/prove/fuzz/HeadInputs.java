package dev.cay.prove.fuzz;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;

/// Heads of requests at the edge: HTTP/1.1 in all its corners, and frames of HTTP/2.
final class HeadInputs implements RequestTarget.Inputs {
    private static final List<String> HEADS = List.of(
            "GET /health HTTP/1.1\nHost: localhost",
            "GET /v2/sandboxes?limit=5&state=running HTTP/1.1\nHost: localhost\nX-API-Key: {key}",
            "GET /sandboxes/{id} HTTP/1.1\nHost: localhost\nX-API-Key: {key}",
            "GET /sandboxes/{id}/metrics?start=0&end=99 HTTP/1.1\nHost: localhost\nX-API-Key: {key}",
            "GET /v2/sandboxes/{id}/logs?cursor=0&limit=3 HTTP/1.1\nHost: localhost\nX-API-Key: {key}",
            "GET /templates/aliases/base HTTP/1.1\nHost: localhost\nAuthorization: Bearer {key}",
            "GET /events/sandboxes?limit=1&offset=0 HTTP/1.1\nHost: localhost\nX-API-Key: {key}",
            "GET /metrics HTTP/1.1\nHost: localhost\nX-API-Key: {key}",
            "POST /v2/sandboxes HTTP/1.1\nHost: localhost\nX-API-Key: {key}\nContent-Type: application/json\n"
                    + "Content-Length: 33\n\n{\"templateID\":\"none\",\"timeout\":15}",
            "POST /sandboxes/none/timeout HTTP/1.1\nHost: localhost\nX-API-Key: {key}\nContent-Length: 13\n\n"
                    + "{\"timeout\":1}",
            "DELETE /sandboxes/none HTTP/1.1\nHost: localhost\nX-API-Key: {key}",
            "OPTIONS /sandboxes HTTP/1.1\nHost: localhost\nOrigin: http://a\nAccess-Control-Request-Headers: x-api-key",
            "GET /health HTTP/1.1\nHost: 49983-{id}.cay.localhost",
            "GET /envs HTTP/1.1\nHost: 49983-{id}.cay.localhost\nX-Access-Token: {token}",
            "GET /index.html?a=%41 HTTP/1.1\nHost: 8000-{id}.cay.localhost:3000\nAccept: text/html\n"
                    + "User-Agent: Mozilla/5.0\nCookie: a=b; c=d",
            "GET / HTTP/1.1\nHost: 8000-{id}.cay.localhost\nConnection: Upgrade\nUpgrade: websocket\n"
                    + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\nSec-WebSocket-Version: 13",
            "GET / HTTP/1.1\nHost: 9-{id}.cay.localhost\nAccept: text/html\nUser-Agent: Mozilla/5.0",
            "POST /up HTTP/1.1\nHost: 8000-{id}.cay.localhost\nExpect: 100-continue\nContent-Length: 5\n\nhello",
            "GET /www/index.html HTTP/1.1\nHost: localhost\nE2b-Sandbox-Id: {id}\nE2b-Sandbox-Port: 8000\n"
                    + "Range: bytes=0-3\nIf-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT",
            "GET /files?path=/etc/hostname&username=root HTTP/1.1\nHost: localhost\nX-Access-Token: {token}",
            "GET /files?path=/etc/hostname&signature=v1_abc&signature_expiration=99 HTTP/1.1\nHost: localhost",
            "HEAD /files?path=/etc/passwd HTTP/1.1\nHost: localhost\nE2b-Sandbox-Id: {id}\nE2b-Sandbox-Port: 49983\n"
                    + "X-Access-Token: {token}\nRange: bytes=-5\nAccept-Encoding: gzip;q=0.5, *;q=0",
            "POST /process.Process/List HTTP/1.1\nHost: localhost\nE2b-Sandbox-Id: {id}\nE2b-Sandbox-Port: 49983\n"
                    + "X-Access-Token: {token}\nContent-Type: application/json\nContent-Length: 2\n\n{}",
            "GET http://8000-{id}.cay.localhost/index.html HTTP/1.1\nHost: other",
            "CONNECT localhost:22 HTTP/1.1\nHost: localhost:22",
            "GET /health HTTP/1.0");

    private static final List<String> ODD = List.of(
            "Content-Length: 0",
            "Content-Length: 5, 5",
            "Content-Length: -1",
            "Content-Length: 99999999999999999999",
            "Content-Length: +4",
            "Content-Length:",
            "Transfer-Encoding: chunked",
            "Transfer-Encoding: chunked, identity",
            "Transfer-Encoding: gzip, chunked",
            "Transfer-Encoding : chunked",
            "Transfer-Encoding: xchunked",
            "Host: ",
            "Host: [::1",
            "Host: a:b:c",
            "Host: 49983-.cay.localhost",
            "Host: -1-x.cay.localhost",
            "Host: 99999999999-abc.cay.localhost",
            "Host: 49983-\u00e9.cay.localhost",
            "E2b-Sandbox-Port: 0",
            "E2b-Sandbox-Port: 65536",
            "E2b-Sandbox-Port: \u0661",
            "E2b-Sandbox-Id: ../../x",
            "E2b-Sandbox-Id:",
            "X-Access-Token: ",
            "X-API-Key: e2b_",
            "Authorization: Bearer ",
            "Authorization: Basic ====",
            "Connection: close, keep-alive, upgrade",
            "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__",
            "Expect: 100-continue",
            "Expect: nothing",
            "Trailer: X-A",
            "TE: trailers, deflate;q=0.5",
            "Range: bytes=9-1,-,5-",
            "Accept-Encoding: ;q=,gzip;q=9",
            "Origin: null",
            "Cookie: \u0000",
            "X-Fold: a\r\n b\r\n\tc",
            ": no name",
            "No colon",
            "X-Forwarded-For: 1.2.3.4, ,\"",
            "Idempotency-Key: \u007f",
            "Content-Type: multipart/form-data; boundary=\"");

    private static final Mutator MUTATOR = Mutator.of(
            "\r\n",
            "\n",
            "\r",
            "\r\n\r\n",
            " ",
            "\t",
            ":",
            "%",
            "%00",
            "%zz",
            "%2e%2e%2f",
            "%c0%ae",
            "//",
            "?",
            "#",
            "\u0000",
            "HTTP/1.1",
            "HTTP/2.0",
            "HTTP/1.",
            "GET ",
            "Host: ",
            "0\r\n\r\n",
            ";",
            "=",
            "&",
            "\u00ff",
            "[",
            "]",
            "@",
            ",");

    private final DaemonPorts doors;
    private final String key;

    HeadInputs(DaemonPorts doors, String key) {
        this.doors = doors;
        this.key = key;
    }

    @Override
    public Input next(Dice dice, FuzzedSandbox.Name name) {
        return dice.oneIn(6) ? framesOfHttp2(dice, name) : heads(dice, name);
    }

    private Input framesOfHttp2(Dice dice, FuzzedSandbox.Name name) {
        var frames = new Http2Frames(dice, name.id(), name.token());
        return Input.of(dice, dice.oneIn(8) ? doors.secure("h2") : doors.plain(), frames.bytes(), Input.Speech.HTTP2);
    }

    private Input heads(Dice dice, FuzzedSandbox.Name name) {
        var bytes = new ByteArrayOutputStream();
        for (int i = dice.oneIn(5) ? dice.between(2, 4) : 1; i > 0; i--) {
            bytes.writeBytes(head(dice, name));
        }
        byte[] sent = bytes.toByteArray();
        if (!dice.oneIn(4)) {
            sent = MUTATOR.mutate(dice, sent);
        }
        if (dice.oneIn(40)) {
            // No TLS where it is expected.
            return Input.of(dice, doors.plainToSecure(), sent, Input.Speech.ANY);
        }
        return Input.of(dice, dice.oneIn(12) ? doors.secure("http/1.1") : doors.plain(), sent, Input.Speech.HTTP1);
    }

    private byte[] head(Dice dice, FuzzedSandbox.Name name) {
        String text = dice.pick(HEADS)
                .replace("{id}", name.id())
                .replace("{token}", name.token())
                .replace("{key}", key)
                // Sandboxes are dear, so few are made; they end by themselves soon after.
                .replace("none", dice.oneIn(40) ? "base" : "none");
        int end = text.indexOf("\n\n");
        var lines = new ArrayList<>(List.of((end < 0 ? text : text.substring(0, end)).split("\n")));
        for (int i = dice.size(3); i > 0; i--) {
            lines.add(dice.between(1, lines.size()), dice.pick(ODD));
        }
        if (dice.oneIn(40)) {
            lines.add("X-Long: " + "a".repeat(dice.size(80_000)));
        }
        if (dice.oneIn(40)) {
            for (int i = dice.size(4000); i > 0; i--) {
                lines.add("X-" + i + ": b");
            }
        }
        String body = end < 0 ? "" : text.substring(end + 2);
        return (String.join("\r\n", lines) + "\r\n\r\n" + body).getBytes(ISO_8859_1);
    }
}
