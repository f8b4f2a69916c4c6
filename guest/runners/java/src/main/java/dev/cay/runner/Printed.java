package dev.cay.runner;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/// `System.out` and `System.err` of cells. A cell that closes it must not silence those after it.
final class Printed extends PrintStream {
    Printed(Events events, Events.Channel channel) {
        super(new Sink(events, channel), false, StandardCharsets.UTF_8);
    }

    static void install(Events events) {
        System.setOut(new Printed(events, Events.Channel.OUT));
        System.setErr(new Printed(events, Events.Channel.ERR));
    }

    /// A stack that overflowed while printing leaves half a text in the stream. A stream that a cell put in its place
    /// stays.
    static void renew(Events events) {
        if (System.out instanceof Printed) {
            System.setOut(new Printed(events, Events.Channel.OUT));
        }
        if (System.err instanceof Printed) {
            System.setErr(new Printed(events, Events.Channel.ERR));
        }
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
