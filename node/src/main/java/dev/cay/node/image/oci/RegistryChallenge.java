package dev.cay.node.image.oci;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/// A `WWW-Authenticate` header: the credentials that a server asks for.
///
/// @param scheme in lower case
record RegistryChallenge(String scheme, Map<String, String> parameters) {
    private static final int LONGEST = 8192;
    /// Either the scheme of a challenge, or a parameter of the one before.
    private static final Pattern PART = Pattern.compile(
            "\\s*,?\\s*(?:([A-Za-z0-9_-]+)\\s*=\\s*(?:\"((?:[^\"\\\\]|\\\\.)*+)\"|([^\\s,\"]*))|([A-Za-z][A-Za-z0-9_-]*)(?=\\s|,|$))");

    static List<RegistryChallenge> parse(List<String> headers) {
        var challenges = new ArrayList<RegistryChallenge>();
        for (String header : headers) {
            var part = PART.matcher(header.substring(0, Math.min(LONGEST, header.length())));
            for (int at = 0; part.find(at) && part.start() == at && part.end() > at; at = part.end()) {
                if (part.group(4) != null) {
                    challenges.add(
                            new RegistryChallenge(part.group(4).toLowerCase(Locale.ROOT), new LinkedHashMap<>()));
                } else if (!challenges.isEmpty()) {
                    String value = part.group(2) == null
                            ? part.group(3)
                            : part.group(2).replaceAll("\\\\(.)", "$1");
                    challenges.getLast().parameters().put(part.group(1).toLowerCase(Locale.ROOT), value);
                }
            }
        }
        return challenges;
    }

    String parameter(String name) {
        return parameters.getOrDefault(name, "");
    }
}
