package dev.cay.sdk;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/// Decodes text that arrives in pieces, which may be cut within a character. Keeps the first part.
final class Output {
    private final Consumer<String> listener;
    private final Kept kept;
    private final CharsetDecoder decoder = StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPLACE)
            .onUnmappableCharacter(CodingErrorAction.REPLACE);
    private ByteBuffer begun = ByteBuffer.allocate(0);

    Output(Consumer<String> listener, int limit) {
        this.listener = listener;
        this.kept = new Kept(limit);
    }

    void take(byte[] piece) {
        decode(piece, false);
    }

    void end() {
        decode(new byte[0], true);
    }

    private void decode(byte[] piece, boolean last) {
        var bytes = ByteBuffer.allocate(begun.remaining() + piece.length)
                .put(begun)
                .put(piece)
                .flip();
        var text = CharBuffer.allocate(bytes.remaining() + 1);
        decoder.decode(bytes, text, last);
        if (last) {
            decoder.flush(text);
        }
        begun = bytes;
        tell(text.flip().toString());
    }

    private void tell(String text) {
        if (!text.isEmpty()) {
            kept.add(text);
            listener.accept(text);
        }
    }

    Kept kept() {
        return kept;
    }
}
