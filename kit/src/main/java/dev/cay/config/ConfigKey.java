package dev.cay.config;

import java.util.Locale;

/// One setting of the configuration.
///
/// @param name     as in the file, sections joined by dots: `http.tlsPort`
/// @param meaning  one sentence for the operator
/// @param fallback the default, written as it would be in the file; empty means unset
/// @param secret   whether the value is never shown
public record ConfigKey<T>(String name, ConfigValue<T> value, String fallback, boolean secret, String meaning) {
    static <T> ConfigKey<T> key(String name, ConfigValue<T> value, String fallback, String meaning) {
        return new ConfigKey<>(name, value, fallback, false, meaning);
    }

    /// `http.tlsPort` is overridden by `CAY_HTTP_TLS_PORT`: a dot and a change to upper case both become `_`.
    public String variable() {
        String words = name.replace('.', '_').replaceAll("([a-z0-9])([A-Z])", "$1_$2");
        return "CAY_" + words.toUpperCase(Locale.ROOT);
    }

    /// The text that may be printed for a value: masked if it is secret.
    public String shown(String text) {
        return secret && !text.isEmpty() ? "(secret)" : text;
    }
}
