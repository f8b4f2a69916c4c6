package dev.cay.http;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/// The two forms in which Connect carries a message.
enum ConnectCodec {
    JSON("json"),
    PROTO("proto");

    /// Generous for files' metadata and process input, small enough that a few bad clients cannot fill the heap.
    static final int MESSAGE_LIMIT = 16 << 20;

    static final String TOO_LARGE = "a message may have 16 MiB; send files by /files";

    private static final JsonFormat.Parser PARSER = JsonFormat.parser().ignoringUnknownFields();
    private static final JsonFormat.Printer PRINTER = JsonFormat.printer().omittingInsignificantWhitespace();

    private final String suffix;

    ConnectCodec(String suffix) {
        this.suffix = suffix;
    }

    static @Nullable ConnectCodec of(@Nullable String contentType, boolean stream) {
        if (contentType == null) {
            return null;
        }
        int semicolon = contentType.indexOf(';');
        String type = (semicolon < 0 ? contentType : contentType.substring(0, semicolon))
                .strip()
                .toLowerCase(Locale.ROOT);
        for (ConnectCodec codec : values()) {
            if (type.equals(codec.contentType(stream))) {
                return codec;
            }
        }
        return null;
    }

    String contentType(boolean stream) {
        return (stream ? "application/connect+" : "application/") + suffix;
    }

    byte[] write(Message message) throws IOException {
        return switch (this) {
            case JSON ->
                JsonText.knows(message.getDescriptorForType())
                        ? JsonText.of(message)
                        : PRINTER.print(message).getBytes(StandardCharsets.UTF_8);
            case PROTO -> message.toByteArray();
        };
    }

    /// Reads a message of the prototype's type; what cannot be read is the client's error.
    @SuppressWarnings("unchecked") // a builder builds what its message is
    <M extends Message> M read(M prototype, byte[] bytes) {
        Message.Builder builder = prototype.newBuilderForType();
        try {
            switch (this) {
                case JSON -> {
                    // Some clients send nothing at all for an empty message.
                    if (bytes.length > 0) {
                        PARSER.merge(new String(bytes, StandardCharsets.UTF_8), builder);
                    }
                }
                case PROTO -> builder.mergeFrom(bytes);
            }
        } catch (InvalidProtocolBufferException e) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "cannot read the message: " + e.getMessage(), e);
        }
        return (M) builder.build();
    }

    static CayException unknown(String compression) {
        return new CayException(
                ErrorKind.NOT_IMPLEMENTED, "unknown compression \"%s\": supported is gzip".formatted(compression));
    }

    /// Undoes gzip, never beyond the limit for a message.
    static byte[] unzip(byte[] bytes, LargeMessages.Room room) throws IOException {
        try (var in = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
            return limited(in, room);
        } catch (java.util.zip.ZipException | java.io.EOFException e) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "the message is not valid gzip", e);
        }
    }

    /// Reads all there is, up to the limit.
    static byte[] limited(InputStream in, LargeMessages.Room room) throws IOException {
        byte[] begin = in.readNBytes(LargeMessages.LARGE);
        if (begin.length < LargeMessages.LARGE) {
            return begin;
        }
        room.need(MESSAGE_LIMIT);
        byte[] rest = in.readNBytes(MESSAGE_LIMIT + 1 - begin.length);
        if (begin.length + rest.length > MESSAGE_LIMIT) {
            throw new CayException(ErrorKind.EXHAUSTED, TOO_LARGE);
        }
        byte[] all = Arrays.copyOf(begin, begin.length + rest.length);
        System.arraycopy(rest, 0, all, begin.length, rest.length);
        return all;
    }
}
