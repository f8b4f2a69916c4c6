package dev.cay.server.audit;

import dev.cay.server.audit.AuditChain.Link;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;

/// Syslog over UDP (RFC 5424). Lost messages are not noticed.
record UdpSyslogTarget(String host, int port) implements AuditExport.Target {
    /// Facility authpriv, severity informational.
    private static final int PRIORITY = 10 * 8 + 6;

    private static final Pattern TIME = Pattern.compile(",\"time\":\"([^\"]+)\"");

    @Override
    public void write(List<Link> links) throws IOException {
        var address = new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            throw new UnknownHostException("the address of %s is not known".formatted(host));
        }
        try (var socket = new DatagramSocket()) {
            for (var link : links) {
                byte[] bytes = message(link).getBytes(StandardCharsets.UTF_8);
                socket.send(new DatagramPacket(bytes, bytes.length, address));
            }
        }
    }

    /// Priority, version, time, host, program, process, kind of message, no structured data, message.
    private static String message(Link link) {
        var time = TIME.matcher(link.body());
        return "<%d>1 %s %s cay %d audit - %s"
                .formatted(
                        PRIORITY,
                        time.find() ? time.group(1) : "-",
                        localName(),
                        ProcessHandle.current().pid(),
                        link.line());
    }

    private static String localName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "-";
        }
    }
}
