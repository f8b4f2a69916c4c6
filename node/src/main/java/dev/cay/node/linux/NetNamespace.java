package dev.cay.node.linux;

import java.io.IOException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/// The network (and host name) of another process, reached by a thread that hops in, makes a socket and comes back. A
/// socket belongs to the namespace it was made in for all its life, so all the rest happens outside.
///
/// Holds the namespace alive, as does every socket made here: close all of them before a checkpoint and at the end.
public final class NetNamespace implements AutoCloseable {
    /// @param pid     as the host sees it
    /// @param threads may be shared by all namespaces; two are plenty
    public static NetNamespace open(long pid, HostThreads threads) throws IOException {
        throw new UnsupportedOperationException();
    }

    /// Listens on all addresses, IPv6 included where the host has it.
    public ServerSocketChannel listen(int port) throws IOException {
        throw new UnsupportedOperationException();
    }

    /// Connects to 127.0.0.1 or, where nothing listens there, to ::1.
    ///
    /// @throws java.net.ConnectException when the port is closed
    public SocketChannel connect(int port) throws IOException {
        throw new UnsupportedOperationException();
    }

    /// Connects to an abstract unix stream address (`\0name`); the descriptor does not block.
    public Descriptor connectAbstract(String name) throws IOException {
        throw new UnsupportedOperationException();
    }

    /// Sets the host name of the process's uts namespace, which the sandbox itself may not.
    public void setHostname(String name) throws IOException {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
