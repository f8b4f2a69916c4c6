package dev.cay.http;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// An HTTP/1.1 client that does what it is told, byte by byte.
public final class RawClient implements AutoCloseable {
    final Socket socket;
    public final InputStream in;

    public RawClient(InetSocketAddress address) throws IOException {
        socket = new Socket();
        socket.setSoTimeout(20_000);
        socket.setTcpNoDelay(true);
        socket.connect(address, 5000);
        in = new BufferedInputStream(socket.getInputStream());
    }

    public RawClient send(String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        socket.getOutputStream().flush();
        return this;
    }

    public RawClient chunk(String text) throws IOException {
        return send(Integer.toHexString(text.length()) + "\r\n" + text + "\r\n");
    }

    public String line() throws IOException {
        var bytes = new ByteArrayOutputStream();
        for (int one = in.read(); one != '\n'; one = in.read()) {
            if (one < 0) {
                throw new java.io.EOFException("after: " + bytes);
            }
            bytes.write(one);
        }
        return bytes.toString(StandardCharsets.ISO_8859_1).stripTrailing();
    }

    /// Status line and headers.
    public List<String> head() throws IOException {
        var lines = new ArrayList<String>();
        for (String line = line(); !line.isEmpty(); line = line()) {
            lines.add(line);
        }
        return lines;
    }

    String chunk() throws IOException {
        int size = Integer.parseInt(line(), 16);
        String text = exactly(size);
        line();
        return text;
    }

    public String exactly(int count) throws IOException {
        return new String(in.readNBytes(count), StandardCharsets.ISO_8859_1);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
