package dev.cay.node.mcp.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;

/// Server-sent events as servers send them, and as they should not.
@Fast
final class EventStreamTest {
    @Test
    void readsEveryWayToEndALine() throws IOException {
        assertThat(events("data: a\n\ndata: b\r\n\r\ndata: c\r\rdata:d\n\n"))
                .containsExactly("message=a", "message=b", "message=c", "message=d");
    }

    @Test
    void joinsLinesAndKnowsNames() throws IOException {
        assertThat(events(": hello\nevent: endpoint\ndata: /a\ndata: b\n\nevent: lost\n\ndata\n\ndata: cut off"))
                .containsExactly("endpoint=/a\nb", "message=");
    }

    @Test
    void remembersWhereItWas() throws IOException {
        var stream = stream("id: 7\nretry: 250\ndata: x\n\nid: \u0001\nretry: soon\ndata: y\n\n");
        stream.next();
        assertThat(stream.lastId()).isEqualTo("7");
        assertThat(stream.retry()).isEqualTo(Duration.ofMillis(250));
        stream.next();
        assertThat(stream.lastId()).isEqualTo("7");
    }

    @Test
    void keepsNoMoreThanAMessageMayBe() {
        var endless = new InputStream() {
            @Override
            public int read() {
                return 'x';
            }
        };
        var stream = new EventStream(endless, new MessageMemory(new Semaphore(1), () -> {}));
        assertThatThrownBy(stream::next).hasMessageContaining("32 MiB");
    }

    @Test
    void commentsTakeNoRoom() throws IOException {
        var comments = (": " + "x".repeat(1 << 20) + "\n\n").repeat(40);
        assertThat(events(comments + "data: after\n\n")).containsExactly("message=after");
    }

    @Test
    void oneLargeMessageAtATime() throws IOException {
        var large = new Semaphore(1);
        var room = new MessageMemory(large, () -> {});
        var stream = new EventStream(bytes("data: " + "x".repeat(2 << 20) + "\n\ndata: y\n\n"), room);
        stream.next();
        assertThat(large.availablePermits()).isZero();
        stream.next();
        assertThat(large.availablePermits()).isOne();
    }

    private static List<String> events(String text) throws IOException {
        var stream = stream(text);
        var events = new ArrayList<String>();
        for (var event = stream.next(); event.isPresent(); event = stream.next()) {
            events.add(event.get().name() + "=" + new String(event.get().data(), StandardCharsets.UTF_8));
        }
        return events;
    }

    private static EventStream stream(String text) {
        return new EventStream(bytes(text), new MessageMemory(new Semaphore(1), () -> {}));
    }

    private static InputStream bytes(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    }
}
