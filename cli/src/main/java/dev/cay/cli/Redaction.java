package dev.cay.cli;

import java.util.List;
import java.util.regex.Pattern;

/// Removes secrets from a text: known values, and everything that has the form of a secret. Rather too much than too
/// little.
final class Redaction {
    private static final String MARK = "(redacted)";

    private record Form(Pattern pattern, String instead) {
        Form(String pattern, String instead) {
            this(Pattern.compile(pattern), instead);
        }
    }

    private static final List<Form> FORMS = List.of(
            new Form("-----BEGIN [A-Z ]*PRIVATE KEY-----[\\s\\S]*?-----END [A-Z ]*PRIVATE KEY-----", MARK),
            new Form("\\b(e2b_|sk-|ghp_|gho_|xox[a-z]-|eyJ)[A-Za-z0-9_.-]{8,}", MARK),
            // Tokens, hashes and keys; ids of sandboxes are shorter.
            new Form("\\b[A-Fa-f0-9]{32,}\\b", MARK),
            new Form("(?<![\\w/.-])(?=[\\w+-]*\\d)(?=[\\w+-]*[A-Za-z])[\\w+-]{40,}={0,2}", MARK),
            new Form("://[^/@\\s\"']+@", "://" + MARK + "@"),
            new Form("(?i)\\bbearer\\s+\\S+", "Bearer " + MARK),
            new Form(
                    "(?i)([\\w.-]*(?:password|passwd|secret|token|api[_-]?key|credential|authorization|cookie)[\\w.-]*[\"']?\\s*[:=]\\s*)(\"[^\"]*\"|'[^']*'|[^\\s,;}]+)",
                    "$1" + MARK));

    private final List<String> known;

    /// @param known values that must not appear, whatever they look like
    Redaction(List<String> known) {
        this.known = known.stream().filter(value -> value.length() >= 4).toList();
    }

    String apply(String text) {
        String clean = text;
        for (String value : known) {
            clean = clean.replace(value, MARK);
        }
        for (var form : FORMS) {
            clean = form.pattern().matcher(clean).replaceAll(form.instead());
        }
        return clean;
    }
}
