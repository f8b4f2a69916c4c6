package dev.cay.server.template;

import java.util.Locale;

/// How far a build is.
public enum BuildStatus {
    /// Its steps are not known yet.
    WAITING,
    BUILDING,
    READY,
    ERROR;

    /// As clients name it.
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    public boolean isOver() {
        return this == READY || this == ERROR;
    }
}
