package dev.cay.prove.fuzz;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/// Sends inputs, each on a connection of its own, and reads the answers.
final class Wire implements AutoCloseable {
    /// How long an answer may keep an eager client waiting before it says that it has no more to say.
    private static final int EAGER_MILLIS = 100;

    /// A stream that is silent for so long is left.
    private static final int SILENCE_MILLIS = 400;

    /// A connection of HTTP/2 has no half that could be closed: a server may wait for ours to go on.
    private static final int SILENCE_HTTP2_MILLIS = 5000;

    private static final int MOST = 4 << 20;
    private static final int HEAD = 4 << 10;

    /// Ends what a peer that does not read would hold up.
    private final ScheduledExecutorService watchdog = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("fuzz-watchdog").factory());

    Reply send(Input input) throws IOException {
        try (var socket = input.door().open((int) Reply.LIMIT.toMillis())) {
            var limit = watchdog.schedule(() -> abandon(socket), Reply.LIMIT.toMillis() + 1000, TimeUnit.MILLISECONDS);
            try {
                boolean http2 = input.speech() == Input.Speech.HTTP2;
                return new Conversation(socket, http2, System.nanoTime() + Reply.LIMIT.toNanos()).hold(input);
            } finally {
                limit.cancel(false);
            }
        }
    }

    private static void abandon(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // It is closed for whoever waits for it.
        }
    }

    @Override
    public void close() {
        watchdog.shutdownNow();
    }

    private static final class Conversation {
        private final Socket socket;
        private final long end;
        private final ByteArrayOutputStream heard = new ByteArrayOutputStream();
        private final byte[] buffer = new byte[16 << 10];
        private final boolean http2;
        private boolean stream;
        private int silence = SILENCE_MILLIS;

        Conversation(Socket socket, boolean http2, long end) {
            this.socket = socket;
            this.http2 = http2;
            this.end = end;
        }

        Reply hold(Input input) throws IOException {
            boolean refused = !sent(input);
            if (input.manner() == Input.Manner.GONE) {
                socket.setSoLinger(true, 0);
                return reply(Reply.End.LEFT);
            }
            if (input.manner() == Input.Manner.WAITING && !refused) {
                listen(EAGER_MILLIS);
            }
            if (!refused) {
                finish();
            }
            return hear();
        }

        /// False when the other side wanted no more of it.
        private boolean sent(Input input) {
            try {
                for (byte[] piece : input.pieces()) {
                    socket.getOutputStream().write(piece);
                    socket.getOutputStream().flush();
                }
                return true;
            } catch (IOException e) {
                return false;
            }
        }

        private void finish() {
            try {
                socket.shutdownOutput();
            } catch (IOException e) {
                // The other side was faster.
            }
        }

        private void listen(int millis) {
            try {
                socket.setSoTimeout(millis);
                int count = socket.getInputStream().read(buffer);
                note(Math.max(0, count));
            } catch (IOException e) {
                // What it means is seen when all is said.
            }
        }

        private Reply hear() {
            try {
                while (true) {
                    long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
                    if (left <= 0 || heard.size() > MOST) {
                        return reply(stream || heard.size() > MOST ? Reply.End.LEFT : Reply.End.HUNG);
                    }
                    socket.setSoTimeout((int) Math.min(left, stream ? silence : left));
                    int count = socket.getInputStream().read(buffer);
                    if (count < 0) {
                        return reply(Reply.End.CLOSED);
                    }
                    note(count);
                }
            } catch (SocketTimeoutException e) {
                return reply(stream ? Reply.End.LEFT : Reply.End.HUNG);
            } catch (IOException e) {
                return reply(System.nanoTime() > end ? Reply.End.HUNG : Reply.End.RESET);
            }
        }

        private void note(int count) {
            heard.write(buffer, 0, count);
            if (heard.size() - count < HEAD) {
                byte[] bytes = heard.toByteArray();
                stream = http2 || Answer.isOpenStream(bytes);
                silence = http2 && !Reply.endsWithFarewell(bytes) ? SILENCE_HTTP2_MILLIS : SILENCE_MILLIS;
            }
        }

        private Reply reply(Reply.End how) {
            return new Reply(heard.toByteArray(), how);
        }
    }
}
