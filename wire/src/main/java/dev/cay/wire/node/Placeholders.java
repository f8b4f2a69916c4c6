package dev.cay.wire.node;

import dev.cay.wire.SandboxId;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Knows the values that stand behind `${e2b.secrets.NAME}` and `${e2b.identity.tokens.NAME}`.
public interface Placeholders {
    /// The header that marks requests with values; it exists to detect loops between proxies (RFC 8586).
    String MARK = "CDN-Loop";

    /// For a node without secrets: every rule with a placeholder fails.
    Placeholders NONE = (_, _, _, _) -> Optional.empty();

    /// The kind of value that a placeholder means.
    enum Kind {
        SECRET("e2b.secrets."),
        IDENTITY_TOKEN("e2b.identity.tokens.");

        private final String prefix;

        Kind(String prefix) {
            this.prefix = prefix;
        }
    }

    /// @param host that the value is sent to
    /// @return nothing when there is no such value, or none for this host
    Optional<String> value(SandboxId sandbox, Kind kind, String name, String host);

    /// What a request says in {@link #MARK} that carries a value to this host. The edge of this Cay passes no such
    /// request on to a sandbox, whatever name and address led it there.
    ///
    /// @return nothing for hosts that need no mark
    default Optional<String> mark(String host) {
        return Optional.empty();
    }

    /// A value cannot be had. The message names the placeholder, never a value.
    final class Unknown extends Exception {
        private Unknown(String placeholder) {
            super("the rule for this host names %s, which does not exist or is not for this host"
                    .formatted(placeholder));
        }
    }

    Pattern PLACEHOLDER = Pattern.compile("\\$\\{(e2b\\.[^}]*)}");

    /// The text with all placeholders replaced.
    ///
    /// @param secrets gets each secret that is in the result
    /// @throws Unknown when one cannot be replaced: nothing is sent then
    default String fill(String text, SandboxId sandbox, String host, Consumer<String> secrets) throws Unknown {
        var filled = new StringBuilder();
        Matcher found = PLACEHOLDER.matcher(text);
        while (found.find()) {
            String inner = found.group(1);
            var value = Optional.<String>empty();
            for (var kind : Kind.values()) {
                if (inner.startsWith(kind.prefix)) {
                    value = value(sandbox, kind, inner.substring(kind.prefix.length()), host);
                    value.filter(_ -> kind == Kind.SECRET).ifPresent(secrets);
                }
            }
            // A line end in a value would be another header.
            String replacement = value.filter(some -> some.chars().noneMatch(c -> c < 0x20 && c != '\t'))
                    .orElseThrow(() -> new Unknown(found.group()));
            found.appendReplacement(filled, Matcher.quoteReplacement(replacement));
        }
        return found.appendTail(filled).toString();
    }
}
