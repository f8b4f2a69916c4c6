package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class StagedStateTest {
    @TempDir
    private Path state = Path.of("unset");

    private final ByteArrayOutputStream said = new ByteArrayOutputStream();

    private StagedState staged() {
        return new StagedState(state);
    }

    private void requireSettled() throws IOException {
        staged().requireSettled(new PrintStream(said, true, StandardCharsets.UTF_8), "./cay restore FILE");
    }

    private void stage() throws IOException {
        Path staging = staged().begin();
        Files.writeString(staging.resolve("secret"), "new");
        Files.writeString(Files.createDirectory(staging.resolve("tls")).resolve("ca.pem"), "new");
    }

    @Test
    void aDirectoryWithLogsAndALockIsEmpty() throws IOException {
        Files.createDirectories(state.resolve("logs"));
        Files.createFile(state.resolve(InstanceLock.NAME));
        Files.createDirectories(state.resolve("sandboxes"));
        assertThat(staged().inTheWay()).isEmpty();
        Files.writeString(state.resolve("secret"), "old");
        assertThat(staged().inTheWay()).containsExactly("secret");
    }

    @Test
    void allTakesItsPlaceAndWhatWasThereIsPutAside() throws IOException {
        Files.writeString(state.resolve("secret"), "old");
        Files.writeString(state.resolve("mcp.key"), "old");
        stage();
        Path aside = staged().complete(List.of("secret", "mcp.key"));
        assertThat(state.resolve("secret")).hasContent("new");
        assertThat(state.resolve("tls/ca.pem")).hasContent("new");
        assertThat(state.resolve("mcp.key")).doesNotExist();
        assertThat(aside.resolve("secret")).hasContent("old");
        assertThat(aside.resolve("mcp.key")).hasContent("old");
        assertThat(staged().directory()).doesNotExist();
        requireSettled();
        assertThat(said.toString(StandardCharsets.UTF_8)).isEmpty();
    }

    @Test
    void aDaemonDoesNotStartOnHalfARestore() throws IOException {
        stage();
        assertThatThrownBy(this::requireSettled)
                .isInstanceOf(CayException.class)
                .hasMessageContaining("was interrupted")
                .hasMessageContaining("./cay restore FILE");
        assertThat(state.resolve("secret")).doesNotExist();
    }

    /// As if the machine went down before the last step.
    @Test
    void anEmptyDraftIsNoRestore() throws IOException {
        Files.writeString(state.resolve("secret"), "new");
        Files.createDirectory(staged().directory());
        requireSettled();
        assertThat(staged().directory()).doesNotExist();
        assertThat(state.resolve("secret")).hasContent("new");
    }

    /// As if the machine went down after each of the moves.
    @Test
    void whoeverComesNextCompletesTheMoves() throws IOException {
        Files.writeString(state.resolve("secret"), "old");
        stage();
        Path aside = state.resolve(StagedState.REPLACED + "now");
        Files.writeString(staged().directory().resolve("complete"), aside.getFileName() + "\nsecret\n");
        Files.createDirectory(aside);
        Files.move(state.resolve("secret"), aside.resolve("secret"));
        Files.move(staged().directory().resolve("secret"), state.resolve("secret"));

        requireSettled();

        assertThat(said.toString(StandardCharsets.UTF_8)).contains("completed a restore");
        assertThat(state.resolve("secret")).hasContent("new");
        assertThat(aside.resolve("secret")).hasContent("old");
        assertThat(state.resolve("tls/ca.pem")).hasContent("new");
        assertThat(staged().directory()).doesNotExist();
    }
}
