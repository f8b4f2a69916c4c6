package dev.cay.node.ingress;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// The content codings that a client accepts.
///
/// @param best     the coding to use if there is a choice; null if none is accepted
/// @param identity whether the unencoded bytes are accepted
record AcceptEncoding(@Nullable Coding best, boolean identity) {
    enum Coding {
        IDENTITY,
        GZIP
    }

    static AcceptEncoding of(@Nullable String header) {
        if (header == null || header.isBlank()) {
            return new AcceptEncoding(Coding.IDENTITY, true);
        }
        double gzip = -1;
        double identity = -1;
        double any = -1;
        for (String part : header.toLowerCase(Locale.ROOT).split(",")) {
            String[] pieces = part.split(";", 2);
            double quality = quality(pieces.length > 1 ? pieces[1] : "");
            switch (pieces[0].strip()) {
                case "gzip", "x-gzip" -> gzip = quality;
                case "identity" -> identity = quality;
                case "*" -> any = quality;
                default -> {}
            }
        }
        double forGzip = gzip >= 0 ? gzip : Math.max(any, 0);
        boolean accepted = identity > 0 || (identity < 0 && any != 0);
        if (forGzip > 0 && forGzip >= identity) {
            return new AcceptEncoding(Coding.GZIP, accepted);
        }
        return new AcceptEncoding(accepted ? Coding.IDENTITY : null, accepted);
    }

    private static double quality(String parameter) {
        String text = parameter.strip();
        if (!text.startsWith("q=")) {
            return 1;
        }
        try {
            return Double.parseDouble(text.substring(2).strip());
        } catch (NumberFormatException e) {
            return 1;
        }
    }
}
