package dev.cay.node.ingress;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// What a client accepts, as far as it matters here.
enum AcceptEncoding {
    IDENTITY,
    GZIP,
    NOTHING;

    static AcceptEncoding of(@Nullable String header) {
        if (header == null || header.isBlank()) {
            return IDENTITY;
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
        boolean identityRefused = identity == 0 || (identity < 0 && any == 0);
        if (forGzip > 0 && forGzip >= identity) {
            return GZIP;
        }
        return identityRefused ? NOTHING : IDENTITY;
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
