package dev.cay.prove;

import java.io.IOException;
import java.nio.file.Path;

/// One promise that takes minutes to show.
public interface Proof {
    /// What it is asked for by: `crash`.
    String name();

    /// What it shows, in one sentence for the page of promises.
    String promise();

    /// Says as it goes what it does; whatever it started must be gone when it returns or throws.
    Verdict run(Stage stage) throws Exception;

    /// Writes what documents besides the page of promises have to say of it.
    ///
    /// @param home the directory of the sources
    default void document(Path home, Verdict verdict) throws IOException {}
}
