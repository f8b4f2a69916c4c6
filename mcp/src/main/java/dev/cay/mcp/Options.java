package dev.cay.mcp;

import java.io.IOException;
import java.io.Serial;
import java.util.ArrayList;
import java.util.List;

/// What was written behind the program's name.
record Options(boolean http, boolean help, Serving.Listening listening) {
    /// Words that mean nothing.
    static final class Unknown extends IOException {
        @Serial
        private static final long serialVersionUID = 1;

        Unknown(String message) {
            super(message + "; see --help");
        }
    }

    static Options of(String... words) throws Unknown {
        boolean http = false;
        boolean help = false;
        int port = Serving.USUAL_PORT;
        String address = Serving.USUAL_ADDRESS;
        var hosts = new ArrayList<String>();
        for (int i = 0; i < words.length; i++) {
            switch (words[i]) {
                case "--http" -> http = true;
                case "--help", "-h" -> help = true;
                case "--port" -> port = port(value(words, ++i));
                case "--listen" -> address = value(words, ++i);
                case "--host" -> hosts.add(value(words, ++i));
                default -> throw new Unknown("unknown option: " + words[i]);
            }
        }
        return new Options(http, help, new Serving.Listening(address, port, List.copyOf(hosts)));
    }

    private static String value(String[] words, int index) throws Unknown {
        if (index >= words.length) {
            throw new Unknown("%s needs a value".formatted(words[index - 1]));
        }
        return words[index];
    }

    private static int port(String text) throws Unknown {
        if (!text.matches("\\d{1,5}") || Integer.parseInt(text) > 65_535) {
            throw new Unknown("--port must be a number from 0 to 65535, not '%s'".formatted(text));
        }
        return Integer.parseInt(text);
    }
}
