package dev.cay.prove;

import java.io.IOException;
import java.nio.file.Path;

/// One promise whose check takes minutes.
public interface Proof {
    /// The name on the command line: `crash`.
    String name();

    /// The promise, in one sentence for the page of promises.
    String promise();

    /// Reports its progress; everything it started must be removed when it returns or throws.
    Verdict run(Stage stage) throws Exception;

    /// Writes the result into further documents.
    ///
    /// @param home the directory of the sources
    default void document(Path home, Verdict verdict) throws IOException {}
}
