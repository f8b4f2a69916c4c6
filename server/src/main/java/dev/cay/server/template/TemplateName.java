package dev.cay.server.template;

import dev.cay.server.access.Team;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A client's name for a template: `[namespace/]alias[:tag]`, where the alias may also be a template's id.
///
/// @param tag null for none and for `default`, which means the same
public record TemplateName(
        @Nullable String namespace, String alias, @Nullable String tag) {
    private static final Pattern WORD = Pattern.compile("[a-z0-9_-]{1,128}");
    private static final Pattern TAG = Pattern.compile("[a-z0-9_.-]{1,128}");
    private static final Pattern UUID = Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");

    /// Older clients' names of the template for MCP.
    private static final Pattern OLDER_GATEWAY = Pattern.compile("mcp-gateway-v0-[1-9]");

    public static TemplateName parse(String text) {
        String rest = text.strip().toLowerCase(Locale.ROOT);
        String tag = null;
        int colon = rest.indexOf(':');
        if (colon >= 0) {
            tag = rest.substring(colon + 1);
            rest = rest.substring(0, colon);
            check(TAG.matcher(tag).matches(), text, "a tag has only letters, digits, '-', '_' and '.'");
            check(!UUID.matcher(tag).matches(), text, "a tag may not be a UUID");
        }
        String namespace = null;
        int slash = rest.indexOf('/');
        if (slash >= 0) {
            namespace = rest.substring(0, slash);
            rest = rest.substring(slash + 1);
            check(WORD.matcher(namespace).matches(), text, "a namespace has only letters, digits, '-' and '_'");
        }
        check(WORD.matcher(rest).matches(), text, "a name has only letters, digits, '-' and '_'");
        String alias = OLDER_GATEWAY.matcher(rest).matches() ? "mcp-gateway" : rest;
        return new TemplateName(namespace, alias, "default".equals(tag) ? null : tag);
    }

    /// The tag that is meant, also where none is named.
    public String tagOrDefault() {
        return tag == null ? BuildTag.DEFAULT : tag;
    }

    /// The full name, as a template of the team.
    public String in(Team team) {
        return team.slug() + "/" + alias;
    }

    private static void check(boolean good, String text, String rule) {
        if (!good) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "invalid template name '%s': %s; write [namespace/]name[:tag]"
                            .formatted(text.length() > 200 ? text.substring(0, 200) + "..." : text, rule));
        }
    }
}
