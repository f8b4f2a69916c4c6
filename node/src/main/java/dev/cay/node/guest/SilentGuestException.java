package dev.cay.node.guest;

import java.io.IOException;

/// The guest gave no answer: it has ended, gets no processor time, or was stopped by root inside.
public final class SilentGuestException extends IOException {
    SilentGuestException(String message) {
        super(message);
    }
}
