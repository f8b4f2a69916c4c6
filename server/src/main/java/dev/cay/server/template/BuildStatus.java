package dev.cay.server.template;

import java.util.Locale;

/// The status of a build.
public enum BuildStatus {
    /// The build was requested; its steps are not known yet.
    WAITING,
    BUILDING,
    READY,
    ERROR;

    /// The status as the API names it.
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    public boolean isOver() {
        return this == READY || this == ERROR;
    }
}
