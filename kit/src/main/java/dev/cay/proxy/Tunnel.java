package dev.cay.proxy;

import dev.cay.http.Exchange;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpGenerator;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.FutureCallback;

/// A connection after an upgrade, mostly to WebSocket: bytes both ways until one side ends.
///
/// Jetty would switch protocols only after the handler returned, so the tunnel takes the connection from Jetty and
/// writes the head of the answer itself.
final class Tunnel {
    private static final int BUFFER = 16 * 1024;

    private final Exchange exchange;
    private final UpstreamConnection server;
    private final UpstreamAnswer answer;
    private final List<ByteBuffer> surplus = new ArrayList<>();
    private final EndPoint client;

    Tunnel(Exchange exchange, UpstreamConnection server, UpstreamAnswer answer) {
        this.exchange = exchange;
        this.server = server;
        this.answer = answer;
        this.client = exchange.takeOver(surplus::add);
    }

    void run() throws IOException {
        try {
            writeToClient(head());
            Thread upward = Thread.ofVirtual().start(this::copyToServer);
            copyToClient();
            upward.interrupt();
        } finally {
            server.close();
            if (server.wasCut()) {
                exchange.abort("the sandbox went away");
            } else {
                client.close();
            }
        }
    }

    private ByteBuffer head() {
        int size = 64;
        HttpFields fields = AnswerHeaders.struck(answer.fields(), LastHop.scrub(exchange));
        for (HttpField field : fields) {
            size += field.getName().length() + String.valueOf(field.getValue()).length() + 4;
        }
        ByteBuffer head = ByteBuffer.allocate(size)
                .put("HTTP/1.1 101 Switching Protocols\r\n".getBytes(StandardCharsets.US_ASCII));
        for (HttpField field : fields) {
            HttpGenerator.putTo(CookieScope.narrowed(field, exchange), head);
        }
        return head.put((byte) '\r').put((byte) '\n').flip();
    }

    private void copyToClient() {
        Scrub scrub = LastHop.scrub(exchange);
        // If values must be removed, only protocols with known frames are upgraded to.
        var frames = scrub == null ? null : new FramedScrub(scrub, FramedScrub.Protocol.WEBSOCKET);
        try {
            do {
                if (server.input().hasRemaining()) {
                    writeToClient(frames == null ? server.input() : frames.pass(server.input()));
                }
            } while (server.fill());
            if (frames != null) {
                writeToClient(frames.rest());
            }
        } catch (IOException e) {
            // Either side closed; there is nobody to tell.
        }
    }

    private void copyToServer() {
        try {
            for (ByteBuffer bytes : surplus) {
                server.write(bytes);
            }
            ByteBuffer buffer = BufferUtil.allocateDirect(BUFFER);
            while (true) {
                int count = client.fill(buffer);
                if (count < 0) {
                    server.shutdownOutput();
                    return;
                }
                if (count == 0) {
                    var readable = new FutureCallback();
                    client.fillInterested(readable);
                    readable.block();
                    continue;
                }
                server.write(buffer);
                BufferUtil.clear(buffer);
            }
        } catch (IOException | RuntimeException e) {
            server.close();
        }
    }

    private void writeToClient(ByteBuffer bytes) throws IOException {
        var written = new FutureCallback();
        client.write(written, bytes);
        written.block();
    }
}
