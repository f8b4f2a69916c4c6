package dev.cay.node.interpreter;

import dev.cay.http.Json;
import dev.cay.life.WholeFile;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The contexts of a sandbox and the pids of their runners. Stored with the notes of its processes, so that it is saved
/// and copied with them.
///
/// @param sandbox   the sandbox that wrote it: in a copy, another one
/// @param variables names of the variables that its runners were given
record ContextNotes(String sandbox, List<String> variables, List<Entry> contexts, List<Entry> spares) {
    private static final Logger log = LoggerFactory.getLogger(ContextNotes.class);

    static final ContextNotes NONE = new ContextNotes("", List.of(), List.of(), List.of());

    ContextNotes {
        variables = List.copyOf(variables);
        contexts = List.copyOf(contexts);
        spares = List.copyOf(spares);
    }

    /// @param pid     of its runner inside; 0 when there is none
    /// @param usual   whether cells of the language go there that name no context
    record Entry(String id, String language, String cwd, int pid, boolean usual) {}

    static ContextNotes read(Path file) throws IOException {
        try {
            @Nullable ContextNotes notes = Json.read(Files.readAllBytes(file), ContextNotes.class);
            return notes == null ? NONE : notes;
        } catch (NoSuchFileException e) {
            return NONE;
        } catch (CayException e) {
            log.atWarn().setCause(e).addKeyValue("file", file).log("the notes of contexts cannot be parsed");
            return NONE;
        }
    }

    void write(Path file) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        WholeFile.write(file, Json.write(this));
    }
}
