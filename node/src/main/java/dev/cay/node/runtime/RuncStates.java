package dev.cay.node.runtime;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.json.JsonMapper;

/// The files in which runc notes which containers there are.
///
/// @param directory has one for each container
record RuncStates(Path directory) {
    private static final Logger log = LoggerFactory.getLogger(RuncStates.class);
    private static final JsonMapper JSON = JsonMapper.builder().build();

    /// Where runc keeps its state of a container.
    Path of(SandboxId id) {
        return directory.resolve(id.value());
    }

    /// A container whose first process lives.
    Optional<Container> find(SandboxId id) {
        Path state = of(id).resolve("state.json");
        try (var in = Files.newInputStream(state);
                var json = JSON.createParser(in)) {
            return Optional.of(container(id, json)).filter(RuncStates::isAlive);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (JacksonException e) {
            log.atWarn().setCause(e).addKeyValue("sandbox", id).log("the state file of a container cannot be parsed");
            return Optional.empty();
        } catch (IOException e) {
            throw unreadable(state, e);
        }
    }

    /// Reads only as far as needed: a state has 50 KB, and a daemon that starts reads those of all sandboxes.
    private static Container container(SandboxId id, JsonParser state) {
        int pid = 0;
        long startTime = 0;
        state.nextToken();
        while ((pid == 0 || startTime == 0) && state.nextToken() == JsonToken.PROPERTY_NAME) {
            switch (state.currentName()) {
                case "init_process_pid" -> pid = state.nextIntValue(0);
                case "init_process_start" -> startTime = state.nextLongValue(0);
                default -> {
                    state.nextToken();
                    state.skipChildren();
                }
            }
        }
        return new Container(id, pid, startTime);
    }

    private static boolean isAlive(Container container) {
        return container.pid() > 1 && !container.hasEnded();
    }

    /// The error for an unreadable file. It may belong to a running sandbox, which must not be taken for missing.
    static CayException unreadable(Path file, IOException e) {
        return new CayException(ErrorKind.UNAVAILABLE, "cannot read %s: %s".formatted(file, e.getMessage()), e);
    }
}
