package dev.cay.proxy;

import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The forms in which servers repeat a value: as it is, as text of JSON, and percent-encoded. Encoders differ in which
/// characters they escape.
final class WrittenForms {
    /// Percent-encoded characters that the function of JavaScript leaves as they are.
    private static final Pattern PLAIN_IN_SCRIPTS = Pattern.compile("%(?:21|27|28|29|7E)");

    /// Those that paths may have as they are.
    private static final Pattern PLAIN_IN_PATHS = Pattern.compile("%(?:2F|3A|40|26|3D|2B|24|2C|3B)");

    private static final Pattern ESCAPE = Pattern.compile("%[0-9A-F]{2}");

    private WrittenForms() {}

    static Set<String> of(String value) {
        var forms = new HashSet<String>();
        forms.add(value);
        addJson(forms, Filling.inJson(value));
        addPercents(forms, Filling.inForm(value));
        return forms;
    }

    /// With and without the escapes that keep text harmless in pages.
    private static void addJson(Set<String> forms, String json) {
        String slashes = json.replace("/", "\\/");
        String ascii = escaped(json, c -> c > 0x7e);
        String html = escaped(ascii, c -> c == '<' || c == '>' || c == '&');
        forms.add(json);
        forms.add(slashes);
        forms.add(ascii);
        forms.add(ascii.replace("/", "\\/"));
        forms.add(html);
        forms.add(escaped(html, c -> c == '=' || c == '\''));
        forms.add(escaped(html, c -> c == '+' || c == '\''));
    }

    private interface Some {
        boolean has(char c);
    }

    private static String escaped(String json, Some characters) {
        var text = new StringBuilder();
        for (int i = 0; i < json.length(); i++) {
            char c = json.charAt(i);
            text.append(characters.has(c) ? "\\u%04x".formatted((int) c) : String.valueOf(c));
        }
        return text.toString();
    }

    private static void addPercents(Set<String> forms, String form) {
        String script = decoded(form, PLAIN_IN_SCRIPTS);
        for (String some : List.of(form, script, decoded(script, PLAIN_IN_PATHS))) {
            forms.add(some);
            forms.add(some.replace("%20", "+"));
            forms.add(ESCAPE.matcher(some).replaceAll(escape -> escape.group().toLowerCase(Locale.ROOT)));
        }
    }

    private static String decoded(String form, Pattern escapes) {
        return escapes.matcher(form)
                .replaceAll(escape -> Matcher.quoteReplacement(
                        Character.toString(Integer.parseInt(escape.group().substring(1), 16))));
    }
}
