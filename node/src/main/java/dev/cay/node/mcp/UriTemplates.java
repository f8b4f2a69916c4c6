package dev.cay.node.mcp;

import java.util.regex.Pattern;

/// Whether an address may have been made from a template. Both are others' words, so this takes time in
/// proportion to their lengths, whatever they are.
final class UriTemplates {
    private static final Pattern VARIABLE = Pattern.compile("\\{[^{}]*}");

    private UriTemplates() {}

    /// A variable stands for any text; what is between them must occur in this order.
    static boolean fits(String template, String uri) {
        String[] fixed = VARIABLE.split(template, -1);
        String last = fixed[fixed.length - 1];
        if (fixed.length == 1) {
            return template.equals(uri);
        }
        if (!uri.startsWith(fixed[0]) || uri.length() < fixed[0].length() + last.length() || !uri.endsWith(last)) {
            return false;
        }
        int at = fixed[0].length();
        for (int i = 1; i < fixed.length - 1; i++) {
            int found = uri.indexOf(fixed[i], at);
            if (found < 0) {
                return false;
            }
            at = found + fixed[i].length();
        }
        return at <= uri.length() - last.length();
    }
}
