package dev.cay.proxy;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpException;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpHeaderValue;
import org.eclipse.jetty.http.HttpParser;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.http.HttpVersion;
import org.jspecify.annotations.Nullable;

/// Reads an answer of an HTTP/1.1 server piece by piece: heads, then content. The server may be hostile.
final class UpstreamAnswer implements HttpParser.ResponseHandler {
    private static final int HEAD_LIMIT = 64 * 1024;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final UpstreamConnection connection;
    private final HttpParser parser = new HttpParser(this, HEAD_LIMIT);
    private final boolean bodiless;
    private HttpFields.Mutable fields = HttpFields.build();
    private final HttpFields.Mutable trailers = HttpFields.build();
    private HttpVersion version = HttpVersion.HTTP_1_1;
    private int status;
    private boolean headed;
    private boolean complete;
    private boolean heard;
    private boolean atEnd;
    private @Nullable ByteBuffer content;
    private @Nullable Throwable bad;

    /// @param bodiless whether the request was a `HEAD`, whose answer has a length but no content
    UpstreamAnswer(UpstreamConnection connection, boolean bodiless) {
        this.connection = connection;
        this.bodiless = bodiless;
        parser.setHeadResponse(bodiless);
    }

    /// Reads the next head, interim ones included.
    void readHead() throws IOException {
        if (headed) {
            parser.reset();
            parser.setHeadResponse(bodiless);
            fields = HttpFields.build();
            headed = false;
            complete = false;
        }
        while (!headed) {
            if (connection.input().hasRemaining()) {
                parse(connection.input());
            } else {
                fill();
            }
        }
    }

    /// Content that has been read already, or null if more must be fetched from the server or the answer is complete.
    @Nullable
    ByteBuffer content() throws IOException {
        if (content == null && !complete) {
            // Parsed also without bytes, because an empty body ends without any.
            parse(connection.input());
        }
        ByteBuffer piece = content;
        content = null;
        return piece;
    }

    /// Waits for more bytes from the server, unless some are there that were not parsed yet.
    void fetch() throws IOException {
        if (content == null && !complete && !connection.input().hasRemaining()) {
            fill();
        }
    }

    int status() {
        return status;
    }

    HttpFields fields() {
        return fields;
    }

    HttpFields trailers() {
        return trailers;
    }

    boolean complete() {
        return complete && content == null;
    }

    /// Whether the answer has no content, whatever its headers say.
    boolean bodiless() {
        return bodiless || status == HttpStatus.NO_CONTENT_204 || status == HttpStatus.NOT_MODIFIED_304;
    }

    /// Whether the server has sent any byte of the answer to this request.
    boolean heard() {
        return heard;
    }

    /// Whether the connection can carry another request.
    boolean reusable() {
        if (!complete || atEnd || connection.input().hasRemaining() || status < 200) {
            return false;
        }
        if (version == HttpVersion.HTTP_1_1) {
            return !fields.contains(HttpHeader.CONNECTION, HttpHeaderValue.CLOSE.asString());
        }
        return fields.contains(HttpHeader.CONNECTION, HttpHeaderValue.KEEP_ALIVE.asString());
    }

    private void fill() throws IOException {
        if (connection.fill()) {
            heard = true;
            return;
        }
        atEnd = true;
        parser.atEOF();
        parse(NOTHING);
        if (!complete && content == null) {
            throw new EOFException("the server closed the connection");
        }
    }

    private void parse(ByteBuffer bytes) throws IOException {
        try {
            parser.parseNext(bytes);
        } catch (RuntimeException e) {
            bad = e;
        }
        if (bad != null) {
            throw new IOException("the server does not speak HTTP", bad);
        }
    }

    @Override
    public void startResponse(HttpVersion version, int status, String reason) {
        this.version = version;
        this.status = status;
    }

    @Override
    public void parsedHeader(HttpField field) {
        fields.add(field);
    }

    @Override
    public void parsedTrailer(HttpField field) {
        trailers.add(field);
    }

    @Override
    public boolean headerComplete() {
        headed = true;
        return true;
    }

    @Override
    public boolean content(ByteBuffer item) {
        content = item;
        return true;
    }

    @Override
    public boolean contentComplete() {
        return false;
    }

    @Override
    public boolean messageComplete() {
        complete = true;
        return true;
    }

    @Override
    public void earlyEOF() {
        bad = new EOFException("the server broke off");
    }

    @Override
    public void badMessage(HttpException failure) {
        bad = (Throwable) failure;
    }
}
