package dev.cay.cli;

import dev.cay.cli.local.PortHolder;
import dev.cay.config.CayConfig;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;

/// Tries the ports before anything slow begins, so that an error about a taken port comes at once.
final class Listening {
    private Listening() {}

    /// The addresses that can be used: `::1` is left out on a host without IPv6, any other that is not there
    /// is an error.
    static List<String> check(CayConfig.Http http) {
        var usable = new ArrayList<String>();
        for (String address : http.listen()) {
            boolean plain = tryPort(address, http.port(), "--port");
            boolean tls = tryPort(address, http.tlsPort(), "--tls-port");
            if (plain && tls) {
                usable.add(address);
            }
        }
        if (usable.isEmpty()) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "none of the addresses in http.listen exists here");
        }
        return usable;
    }

    private static boolean tryPort(String address, int port, String option) {
        try (var socket = new ServerSocket()) {
            socket.bind(new InetSocketAddress(InetAddress.ofLiteral(address), port));
            return true;
        } catch (BindException e) {
            String message = String.valueOf(e.getMessage());
            if (message.contains("Address already in use")) {
                throw new CayException(ErrorKind.UNAVAILABLE, taken(port, option), e);
            }
            if (message.contains("Permission denied")) {
                throw new CayException(
                        ErrorKind.PERMISSION_DENIED, "port %d may only be opened by root".formatted(port), e);
            }
            return missing(address, e);
        } catch (IOException e) {
            // A kernel without IPv6 does not even know the kind of address.
            return missing(address, e);
        }
    }

    static String taken(int port, String option) {
        return PortHolder.find(port)
                .map(holder -> "port %d is taken by %s (pid %d); stop it, or choose another port with %s"
                        .formatted(port, holder.program(), holder.pid(), option))
                .orElse("port %d is taken by another program; choose another port with %s".formatted(port, option));
    }

    private static boolean missing(String address, IOException cause) {
        if (address.equals("::1")) {
            return false;
        }
        throw new CayException(
                ErrorKind.INVALID_ARGUMENT,
                "this host has no address %s to listen on; see `ip address` and http.listen".formatted(address),
                cause);
    }
}
