package dev.cay.connect;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import dev.cay.http.LargeMessages;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/// The two forms in which Connect carries a message.
enum ConnectCodec {
    JSON("json"),
    PROTO("proto");

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
                    // Some clients send no bytes at all for an empty message.
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
            return room.read(in);
        } catch (java.util.zip.ZipException | java.io.EOFException e) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "the message is not valid gzip", e);
        }
    }
}
