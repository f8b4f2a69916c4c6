package dev.cay.cli.doctor;

import dev.cay.config.CayConfig;
import java.util.List;
import java.util.function.UnaryOperator;

/// Checks one subject of the host and changes nothing. A check without a result says so; it never throws.
@FunctionalInterface
public interface Check {
    /// @param command formats a command of Cay for the checked instance
    List<Finding> look(CayConfig config, UnaryOperator<String> command);
}
