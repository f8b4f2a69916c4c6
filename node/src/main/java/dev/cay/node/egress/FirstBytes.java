package dev.cay.node.egress;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The result of parsing the first bytes of a connection.
sealed interface FirstBytes {
    /// Most bytes that are parsed before a connection counts as {@link Other}.
    int MOST = ClientHello.MOST;

    /// More bytes are needed.
    record Unfinished() implements FirstBytes {}

    /// What begins as a handshake of TLS does and cannot be understood, or not as quickly as it must be.
    record BrokenTls() implements FirstBytes {}

    /// TLS.
    ///
    /// @param name the host that the client names, in lower case; null if it names none that is a host name
    record Tls(@Nullable String name) implements FirstBytes {}

    /// HTTP/1, or HTTP/2 without TLS.
    ///
    /// @param name the host of the first request; null if there is none, or not yet
    record Http(@Nullable String name) implements FirstBytes {}

    /// Something else, or nothing that can be understood.
    record Other() implements FirstBytes {}

    /// The host that the client names; null if it names none.
    default @Nullable String host() {
        return switch (this) {
            case Tls(String name) -> name;
            case Http(String name) -> name;
            case Unfinished _, Other _, BrokenTls _ -> null;
        };
    }

    default String protocol() {
        return switch (this) {
            case Tls _ -> "tls";
            case Http _ -> "http";
            case Unfinished _, Other _, BrokenTls _ -> "tcp";
        };
    }

    Pattern METHOD = Pattern.compile("[A-Z]{1,20}( .*)?", Pattern.DOTALL);
    Pattern REQUEST = Pattern.compile("[A-Z]{1,20} [\\x21-\\x7e\\x80-\\xff]+ HTTP/[12]\\.[0-9]\r?");
    Pattern HOST = Pattern.compile("(?im)^host:[ \\t]*([^\\r\\n]*)");

    /// For a client of which no more is looked at.
    static FirstBytes enough(byte[] bytes, int length) {
        return length > 0 && bytes[0] == ClientHello.HANDSHAKE ? new BrokenTls() : new Other();
    }

    static FirstBytes of(byte[] bytes, int length) {
        if (length == 0) {
            return new Unfinished();
        }
        if (bytes[0] == ClientHello.HANDSHAKE) {
            return tls(bytes, length);
        }
        return http(new String(bytes, 0, length, StandardCharsets.ISO_8859_1), length);
    }

    private static FirstBytes tls(byte[] bytes, int length) {
        try {
            var hello = ClientHello.read(bytes, length);
            return hello.isPresent() ? new Tls(hello.get().name()) : new Unfinished();
        } catch (ClientHello.Malformed _) {
            return new BrokenTls();
        }
    }

    private static FirstBytes http(String text, int length) {
        if (!METHOD.matcher(text).matches()) {
            return new Other();
        }
        int line = text.indexOf('\n');
        if (line < 0) {
            return length < MOST ? new Unfinished() : new Other();
        }
        if (!REQUEST.matcher(text.substring(0, line)).matches()) {
            return new Other();
        }
        int end = text.indexOf("\n\r\n", line - 1);
        if (end < 0 && length < MOST) {
            return new Unfinished();
        }
        var host = HOST.matcher(end < 0 ? text : text.substring(0, end + 1));
        return new Http(host.find() ? hostOf(host.group(1)) : null);
    }

    /// The host of `Host` or `:authority`, in lower case and without its port; null if that is no host name.
    static @Nullable String hostOf(String authority) {
        String text = authority.strip().toLowerCase(Locale.ROOT);
        int colon = text.lastIndexOf(':');
        if (colon >= 0 && !text.substring(colon + 1).matches("[0-9]{0,5}")) {
            return null;
        }
        String host = HostPattern.plain(colon >= 0 ? text.substring(0, colon) : text);
        return HostPattern.isName(host) ? host : null;
    }
}
