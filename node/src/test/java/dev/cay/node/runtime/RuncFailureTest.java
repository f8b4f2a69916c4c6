package dev.cay.node.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class RuncFailureTest {
    private static final Command START = new Command("starting the sandbox", Duration.ofSeconds(1), "runc");

    @TempDir
    Path directory;

    /// Who asks for a mount at a link of the template can mend that.
    @Test
    void aPlaceWhereNothingCanBeMountedIsAnErrorOfTheRequest() throws IOException {
        var bundle = new Bundle(directory);
        String why = "nothing can be mounted at /bin: 'bin' on the way there is a link or a file, and no directory";
        Files.writeString(bundle.complaint(), "cay-guest: launch: " + why + "\n");
        var failure = new RuncFailure(bundle).describe(START, 1);
        assertThat(failure.kind()).isEqualTo(ErrorKind.INVALID_ARGUMENT);
        assertThat(failure.userMessage()).isEqualTo(why);

        Files.writeString(bundle.complaint(), "cay-guest: launch: mount /x: Permission denied\n");
        var other = new RuncFailure(bundle).describe(START, 1);
        assertThat(other.kind()).isEqualTo(ErrorKind.INTERNAL);
        assertThat(other).hasMessageContaining("Permission denied");
    }
}
