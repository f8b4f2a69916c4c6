package dev.cay.node.image.oci;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;

/// Error messages about images that cannot be used. Text from the image is shown with control characters escaped and
/// cut to a readable length.
final class BadImage {
    private static final int SHOWN = 200;

    private BadImage() {}

    static CayException because(String reason) {
        return new CayException(ErrorKind.FAILED, reason);
    }

    static CayException because(String reason, Throwable cause) {
        return new CayException(ErrorKind.FAILED, reason, cause);
    }

    /// @param entry name as the layer's archive has it
    static CayException entry(String entry, String reason) {
        return because("the layer's entry %s %s".formatted(shown(entry), reason));
    }

    static CayException entry(String entry, String reason, Throwable cause) {
        return because("the layer's entry %s %s".formatted(shown(entry), reason), cause);
    }

    /// Text from an image or a registry in quotes, fit for a log and a terminal.
    static String shown(String text) {
        var out = new StringBuilder("\"");
        text.codePoints().limit(SHOWN).forEach(c -> {
            if (Character.isISOControl(c) || Character.getType(c) == Character.SURROGATE || c == '"' || c == '\\') {
                out.append("\\u%04x".formatted(c));
            } else {
                out.appendCodePoint(c);
            }
        });
        return out.append(text.codePointCount(0, text.length()) > SHOWN ? "…\"" : "\"")
                .toString();
    }
}
