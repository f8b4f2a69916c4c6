package dev.cay.cli.doctor;

import dev.cay.config.CayConfig;
import java.util.List;
import java.util.function.UnaryOperator;

/// Looks at one subject of the host and leaves it as it was. A check that cannot find out says so; it never throws.
@FunctionalInterface
public interface Check {
    /// @param command writes a command of Cay as it is to be typed for the instance that is looked at
    List<Finding> look(CayConfig config, UnaryOperator<String> command);
}
