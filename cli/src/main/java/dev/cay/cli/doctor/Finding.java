package dev.cay.cli.doctor;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// One line of the doctor's table.
///
/// @param fix the command or the step that puts it right; null when nothing needs to be done
public record Finding(
        String name, Level level, String found, @Nullable String fix) {
    public enum Level {
        OK,
        /// Worth knowing, and no reason to act.
        NOTE,
        /// Cay works with less.
        WARN,
        /// Cay does not work.
        FAIL
    }

    public static Finding ok(String name, String found) {
        return new Finding(name, Level.OK, found, null);
    }

    public static Finding note(String name, String found) {
        return new Finding(name, Level.NOTE, found, null);
    }

    public static Finding warn(String name, String found, String fix) {
        return new Finding(name, Level.WARN, found, fix);
    }

    public static Finding fail(String name, String found, String fix) {
        return new Finding(name, Level.FAIL, found, fix);
    }

    /// As it is shown to people; a fix is on a line of its own.
    String line() {
        String line = String.format(Locale.ROOT, "%-5s %-12s %s", level.name().toLowerCase(Locale.ROOT), name, found);
        return fix == null ? line : line + "\n                   fix: " + fix;
    }
}
