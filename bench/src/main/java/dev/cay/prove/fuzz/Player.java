package dev.cay.prove.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.json.JsonMapper;

/// A program that plays the other side of a guest's link, one conversation at a time.
///
/// It is written in Python, because Java supports neither abstract addresses nor passing descriptors. The host may lack
/// Python, so the program runs on the files of a sandbox.
final class Player implements AutoCloseable {
    /// One message of the conversation.
    ///
    /// @param pieces of the bytes, sent one by one
    /// @param lend   kinds of descriptors that go with the first piece
    /// @param end    whether to close the connection then
    record Turn(List<byte[]> pieces, List<String> lend, boolean end) {}

    private static final String SCRIPT = script();

    private final Process process;
    private final BufferedReader lines;
    private final BufferedWriter orders;

    /// @param way  programs that bring it to its place and run what follows
    /// @param mode `lie` or `knock`
    Player(List<String> way, String mode) throws IOException {
        var command = new ArrayList<>(way);
        command.addAll(List.of("/usr/bin/python3", "-c", SCRIPT, mode));
        process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        lines = process.inputReader(UTF_8);
        orders = process.outputWriter(UTF_8);
        if (!"READY".equals(lines.readLine())) {
            close();
            throw new IOException("%s does not play".formatted(way));
        }
    }

    private static String script() {
        try (var text = Player.class.getResourceAsStream("guest_player.py")) {
            return new String(Objects.requireNonNull(text, "guest_player.py").readAllBytes(), UTF_8);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /// Of the program itself, where the way to its place starts no other process.
    long pid() {
        return process.pid();
    }

    /// Begins a conversation: a {@link Turn}, or a list of them.
    void begin(Object order) throws IOException {
        orders.write(JsonMapper.shared().writeValueAsString(order));
        orders.newLine();
        orders.flush();
    }

    /// How it ended; the program waits for nobody longer than ten seconds.
    String end() throws IOException {
        String line = lines.readLine();
        if (line == null) {
            throw new IOException("the player is gone");
        }
        return line;
    }

    /// It leaves when it is told no more, also inside a sandbox, where a signal to its starter would not reach it.
    @Override
    public void close() throws IOException {
        orders.close();
        boolean ended = process.onExit()
                .completeOnTimeout(process, 15, TimeUnit.SECONDS)
                .thenApply(one -> !one.isAlive())
                .join();
        if (!ended) {
            process.destroyForcibly();
        }
        lines.close();
    }
}
