package dev.cay.wire;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/// The version of this Cay. The build writes it down, so that only the parent's `pom.xml` has it.
public final class CayVersion {
    private static final String TEXT = read();

    private CayVersion() {}

    /// Like `0.1.0`.
    public static String text() {
        return TEXT;
    }

    private static String read() {
        try (var in = CayVersion.class.getResourceAsStream("version.txt")) {
            if (in == null) {
                throw new IllegalStateException("the build left out version.txt");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
