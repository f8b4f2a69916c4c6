package dev.cay.mcp.protocol.face;

import dev.cay.mcp.protocol.Conversation;
import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.RpcException;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.MissingNode;

/// Serves one client over two pipes, a message per line, until the client closes its end.
public final class StdioFace implements Conversation.Reply {
    private static final Logger log = LoggerFactory.getLogger(StdioFace.class);
    private static final int LONGEST_LINE = 64 << 20;

    private final InputStream in;
    private final OutputStream out;
    private final ReentrantLock writing = new ReentrantLock();

    public StdioFace(InputStream in, OutputStream out) {
        this.in = new BufferedInputStream(in);
        this.out = out;
    }

    /// Returns when the client has closed its end; the conversation is closed by then.
    public void serve(Conversation conversation) throws IOException {
        try (conversation) {
            for (var line = line(); line.isPresent(); line = line()) {
                take(line.get(), conversation);
            }
        }
    }

    private void take(byte[] line, Conversation conversation) {
        if (line.length == 0) {
            return;
        }
        try {
            var message = Message.parse(line);
            switch (message.kind()) {
                case REQUEST -> conversation.request(message, this);
                case NOTIFICATION -> conversation.notification(message);
                case RESPONSE -> conversation.response(message);
            }
        } catch (RpcException e) {
            end(Message.error(MissingNode.getInstance(), e));
        }
    }

    private Optional<byte[]> line() throws IOException {
        var line = new ByteArrayOutputStream();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                return Optional.empty();
            }
            if (line.size() == LONGEST_LINE) {
                throw new IOException("a message is longer than %d bytes".formatted(LONGEST_LINE));
            }
            if (next != '\r') {
                line.write(next);
            }
        }
        return Optional.of(line.toByteArray());
    }

    @Override
    public void send(Message message) {
        writing.lock();
        try {
            out.write(message.bytes());
            out.write('\n');
            out.flush();
        } catch (IOException e) {
            // The client is about to close its other end too, which ends the conversation.
            log.debug("the client does not read any more", e);
        } finally {
            writing.unlock();
        }
    }

    @Override
    public void end(Message response) {
        send(response);
    }
}
