package dev.cay.server.store.postgres;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The address of a PostgreSQL database in the operator's form:
/// `postgresql://user@host:port,host:port/database?sslmode=…`.
///
/// @param hosts   each with its port; the one that accepts writes is used
/// @param options the part after the question mark
public record PostgresAddress(List<String> hosts, String database, String user, Map<String, String> options) {
    private static final Pattern SHAPE =
            Pattern.compile("postgres(?:ql)?://(?:([^@/?#]*)@)?([^@/?#]+)/([^/?#]+)(?:\\?([^#]*))?");
    private static final Pattern HOST = Pattern.compile("([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+])(?::([0-9]{1,5}))?");
    private static final List<String> OPTIONS = List.of("sslmode", "sslrootcert", "sslcert", "sslkey");
    private static final List<String> TLS_MODES =
            List.of("disable", "allow", "prefer", "require", "verify-ca", "verify-full");
    private static final List<String> LOOPBACK = List.of("localhost", "127.0.0.1", "[::1]");

    public PostgresAddress {
        hosts = List.copyOf(hosts);
        options = Map.copyOf(options);
    }

    /// Whether this means a PostgreSQL database at all.
    public static boolean isOne(String text) {
        return text.startsWith("postgresql://") || text.startsWith("postgres://");
    }

    public static PostgresAddress parse(String text) {
        var parts = SHAPE.matcher(text);
        if (!parts.matches()) {
            throw wrong("must look like postgresql://user@host:5432/database?sslmode=verify-full");
        }
        return new PostgresAddress(
                hosts(parts.group(2)), decoded(parts.group(3)), user(parts.group(1)), options(parts.group(4)));
    }

    /// The URL for the driver. Connections that leave this machine are encrypted and the server's name is checked,
    /// unless options say otherwise.
    String jdbc() {
        var all = new LinkedHashMap<String, String>();
        all.put("sslmode", onThisMachine() ? "prefer" : "verify-full");
        all.putAll(options);
        if (!all.containsKey("sslrootcert") && all.get("sslmode").startsWith("verify")) {
            all.put("sslfactory", "org.postgresql.ssl.DefaultJavaSSLFactory");
        }
        all.put("targetServerType", "primary");
        // How long the driver remembers which host accepts writes; a standby may be promoted at any time.
        all.put("hostRecheckSeconds", "1");
        var query = new StringBuilder();
        all.forEach((name, value) -> query.append(query.isEmpty() ? '?' : '&')
                .append(name)
                .append('=')
                .append(URLEncoder.encode(value, StandardCharsets.UTF_8)));
        return "jdbc:postgresql://%s/%s%s"
                .formatted(String.join(",", hosts), URLEncoder.encode(database, StandardCharsets.UTF_8), query);
    }

    /// The address without options, for messages.
    @Override
    public String toString() {
        return "postgresql://%s@%s/%s".formatted(user, String.join(",", hosts), database);
    }

    private boolean onThisMachine() {
        return hosts.stream().allMatch(host -> LOOPBACK.contains(host.replaceFirst(":[0-9]+$", "")));
    }

    private static List<String> hosts(String text) {
        var hosts = new ArrayList<String>();
        for (String each : text.split(",", -1)) {
            var host = HOST.matcher(each);
            if (!host.matches() || (host.group(2) != null && Integer.parseInt(host.group(2)) > 65_535)) {
                throw wrong("has no host and port in '%s'".formatted(each));
            }
            hosts.add(host.group(1) + ":" + (host.group(2) == null ? "5432" : host.group(2)));
        }
        return hosts;
    }

    private static String user(@Nullable String text) {
        if (text == null || text.isEmpty()) {
            throw wrong("names no user; write postgresql://USER@host/database");
        }
        if (text.indexOf(':') >= 0) {
            throw wrong("must not hold a password, which others could read; put it in a file and name that in"
                    + " store.passwordFile");
        }
        return decoded(text);
    }

    private static Map<String, String> options(@Nullable String text) {
        var options = new LinkedHashMap<String, String>();
        if (text == null || text.isEmpty()) {
            return options;
        }
        for (String each : Arrays.asList(text.split("&"))) {
            int at = each.indexOf('=');
            String name = at < 0 ? each : each.substring(0, at);
            if (at < 0 || !OPTIONS.contains(name)) {
                throw wrong("has an option '%s' that Cay does not know; it knows %s"
                        .formatted(name, String.join(", ", OPTIONS)));
            }
            options.put(name, decoded(each.substring(at + 1)));
        }
        if (options.containsKey("sslmode") && !TLS_MODES.contains(options.get("sslmode"))) {
            throw wrong("has an sslmode '%s'; it can be %s"
                    .formatted(options.get("sslmode"), String.join(", ", TLS_MODES)));
        }
        return options;
    }

    private static String decoded(String text) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "store.url has a '%' in '" + text + "' that means no character", e);
        }
    }

    private static CayException wrong(String what) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, "store.url " + what);
    }
}
