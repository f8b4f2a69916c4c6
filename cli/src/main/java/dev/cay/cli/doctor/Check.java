package dev.cay.cli.doctor;

import dev.cay.config.CayConfig;
import java.util.List;

/// Looks at one subject of the host and leaves it as it was. A check that cannot find out says so; it never throws.
@FunctionalInterface
public interface Check {
    List<Finding> look(CayConfig config);
}
