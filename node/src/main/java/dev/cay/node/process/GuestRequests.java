package dev.cay.node.process;

import dev.cay.node.guest.GuestException;
import dev.cay.node.guest.GuestLink;
import dev.cay.node.guest.SilentGuestException;
import dev.cay.node.guest.Streams;
import dev.cay.node.linux.Errno;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;

/// Requests to the guest for the processes of one table. Failures become errors for clients.
record GuestRequests(GuestLink link) {
    /// @param number of the process, which the guest keeps as its tag
    Streams spawn(Launch launch, long number) throws IOException {
        try {
            return link.spawn(launch.spawn(Long.toString(number)));
        } catch (GuestException e) {
            if (e.what().equals("chdir") && e.errno() == Errno.ENOENT) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT, "cwd '%s' does not exist".formatted(launch.cwd()), e);
            }
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "error starting process '%s': %s".formatted(launch.command().getFirst(), e.getMessage()),
                    e);
        } catch (SilentGuestException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the sandbox does not start processes: " + e.getMessage(), e);
        }
    }

    /// The streams of a process that runs already.
    Streams attach(int pid) throws IOException {
        return link.attach(pid);
    }

    void signal(int pid, int signal) {
        try {
            link.signal(pid, signal);
        } catch (GuestException e) {
            throw e.errno() == Errno.ESRCH || e.errno() == Errno.ENOENT
                    ? new Selector.Pid(pid).notFound()
                    : new CayException(ErrorKind.INTERNAL, "cannot send the signal: " + e.getMessage(), e);
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the sandbox does not answer", e);
        }
    }

    void resize(int pid, Launch.TerminalSize size) {
        try {
            link.resize(pid, size.columns(), size.rows());
        } catch (SilentGuestException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the sandbox does not answer", e);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot resize the terminal: " + e.getMessage(), e);
        }
    }

    void closeStdin(int pid) throws IOException {
        try {
            link.closeStdin(pid);
        } catch (GuestException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot close stdin: " + e.getMessage(), e);
        }
    }

    /// Has the guest close its copies of an ended process.
    void forget(int pid) throws IOException {
        link.forget(pid);
    }
}
