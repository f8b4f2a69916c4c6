package dev.cay.mcp;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.function.IntConsumer;

/// A part of a long text. Counted in Unicode code points, which are the same in all programming languages.
///
/// @param characters its number of code points
/// @param more       whether the text continues after it
record TextPart(String text, int characters, boolean more) {
    /// Reads no further than needed: the file may be much longer than the wanted part.
    static TextPart read(InputStream file, int offset, int length) throws IOException {
        var reader = new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8));
        take(reader, offset, _ -> {});
        var text = new StringBuilder();
        int characters = take(reader, length, text::appendCodePoint);
        return new TextPart(text.toString(), characters, reader.read() >= 0);
    }

    private static int take(Reader reader, int most, IntConsumer to) throws IOException {
        int characters = 0;
        for (int unit; characters < most && (unit = reader.read()) >= 0; characters++) {
            // A decoder of UTF-8 gives both halves of a pair, or neither.
            boolean pair = Character.isHighSurrogate((char) unit);
            to.accept(pair ? Character.toCodePoint((char) unit, (char) reader.read()) : unit);
        }
        return characters;
    }
}
