package dev.cay.node.mcp.catalog;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The operator's override of an entry, in section `mcp.servers` of the configuration.
///
/// @param way   the only way in which it is started; null for those of the entry
/// @param env   variables set last; may contain credentials of the operator
/// @param oauth OAuth settings for a remote server; null for the server's defaults
public record ServerOverride(
        @Nullable ServerWay way,
        Map<String, Template> env,
        boolean disabled,
        Tools tools,
        @Nullable OAuth oauth) {
    static final ServerOverride NONE = new ServerOverride(null, Map.of(), false, Tools.ALL, null);

    public ServerOverride {
        env = Collections.unmodifiableMap(new LinkedHashMap<>(env));
    }

    /// The offered tools of a server; `*` in a name matches any characters.
    ///
    /// @param allow    empty for all
    /// @param deny     wins over `allow`
    /// @param prefixed whether their names begin with the server's
    public record Tools(List<String> allow, List<String> deny, boolean prefixed) {
        public static final Tools ALL = new Tools(List.of(), List.of(), true);

        public Tools {
            allow = List.copyOf(allow);
            deny = List.copyOf(deny);
        }

        /// @param tool its name without the server's
        public boolean permits(String tool) {
            return (allow.isEmpty() || matches(allow, tool)) && !matches(deny, tool);
        }
    }

    /// OAuth settings of a remote server.
    ///
    /// @param clientId     by which the authorization server knows this Cay; null to register
    /// @param clientSecret null for none
    /// @param issuer       the only authorization server for these settings; null for the one that the server names
    /// @param scopes       of tokens; empty for the server's default
    public record OAuth(
            @Nullable String clientId,
            @Nullable String clientSecret,
            @Nullable String issuer,
            List<String> scopes) {
        public OAuth {
            scopes = List.copyOf(scopes);
        }

        @Override
        public String toString() {
            return "OAuth[clientId=%s, issuer=%s, scopes=%s]".formatted(clientId, issuer, scopes);
        }
    }

    /// Names are servers' words, and may be of several lines.
    static boolean matches(List<String> patterns, String name) {
        return patterns.stream()
                .map(pattern -> Pattern.compile(Pattern.quote(pattern).replace("*", "\\E.*\\Q"), Pattern.DOTALL))
                .anyMatch(pattern -> pattern.matcher(name).matches());
    }

    @Override
    public String toString() {
        return "ServerOverride[way=%s, env=%s, disabled=%s, tools=%s]"
                .formatted(way == null ? "as in the catalog" : way.word(), env.keySet(), disabled, tools);
    }
}
