package dev.cay.node.mcp.remote;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// What a remote server is shown in the header `Authorization` if its entry has no such header. Thread-safe.
public interface RemoteCredentials {
    /// For a server that gets the headers of its entry and nothing else.
    RemoteCredentials NONE = new RemoteCredentials() {
        @Override
        public @Nullable String now() {
            return null;
        }

        @Override
        public boolean refused(Refused refused) {
            return false;
        }
    };

    /// An answer with status 401 or 403.
    ///
    /// @param shown     the value of `Authorization` that the request had; null if it had none
    /// @param challenge the answer's header `WWW-Authenticate`; empty if it has none
    /// @param last      whether the request is not sent once more in any case
    record Refused(int status, @Nullable String shown, String challenge, boolean last) {
        /// Hides the header, which is a credential.
        @Override
        public String toString() {
            return "Refused[%d]".formatted(status);
        }
    }

    /// The value of `Authorization` for a request that is sent now; null for none. A token that is about to expire is
    /// replaced first.
    @Nullable
    String now() throws IOException;

    /// Handles a server's refusal of a request.
    ///
    /// @return whether the request can be sent again, with the new value of {@link #now}; false also if the refusal
    ///         is unknown
    /// @throws dev.cay.wire.CayException if the user has to do something first; the message says what
    boolean refused(Refused refused);
}
