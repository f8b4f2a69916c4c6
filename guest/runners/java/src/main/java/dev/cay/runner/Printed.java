package dev.cay.runner;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/// `System.out` and `System.err` of cells. A cell that closes it must not silence those after it.
final class Printed extends PrintStream {
    Printed(Events events, Events.Channel channel) {
        super(new Sink(events, channel), false, StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        flush();
    }

    private static final class Sink extends OutputStream {
        private final Events events;
        private final Events.Channel channel;

        Sink(Events events, Events.Channel channel) {
            this.events = events;
            this.channel = channel;
        }

        @Override
        public void write(int b) {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int length) {
            events.print(channel, bytes, from, length);
        }
    }
}
