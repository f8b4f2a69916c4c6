package dev.cay.bench;

import dev.cay.life.Progress;
import java.util.List;

/// One group of figures that are measured together.
public interface Measurement {
    /// What it is asked for by: `create`.
    String name();

    /// Whatever it starts is gone when it returns or throws.
    List<Figure> run(Progress progress) throws Exception;
}
