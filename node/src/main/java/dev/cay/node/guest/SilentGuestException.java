package dev.cay.node.guest;

import java.io.IOException;

/// The guest gave no answer: it is gone, or it gets no processor time, or root inside stopped it.
public final class SilentGuestException extends IOException {
    SilentGuestException(String message) {
        super(message);
    }
}
