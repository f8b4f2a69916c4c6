package dev.cay.node.mcp.remote;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.mcp.protocol.Message;
import dev.cay.node.mcp.server.ServerLink;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;

/// What a test hears of a server, in its order.
final class Heard implements ServerLink.Listener {
    private final LinkedBlockingQueue<String> all = new LinkedBlockingQueue<>();

    @Override
    public void heard(Message message) {
        all.add(new String(message.bytes(), StandardCharsets.UTF_8));
    }

    @Override
    public void letGo(JsonNode request) {
        all.add("let go: " + request);
    }

    @Override
    public void over(String reason) {
        all.add("over: " + reason);
    }

    String next() throws InterruptedException {
        String next = all.poll(1, TimeUnit.MINUTES);
        assertThat(next).as("something heard").isNotNull();
        return String.valueOf(next);
    }

    boolean nothingMore() {
        return all.isEmpty();
    }
}
