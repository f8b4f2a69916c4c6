package dev.cay.node.watch;

import dev.cay.http.Json;
import dev.cay.life.WholeFile;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;

/// The watchers of clients that poll, in a file: their ids stay valid after a restart of the daemon or a pause. Changes
/// that were not fetched by then are lost.
record KeptWatches(Path file) {
    private static final Logger log = LoggerFactory.getLogger(KeptWatches.class);

    void write(Map<String, WatchWish> wishes) {
        try {
            WholeFile.write(file, Json.write(wishes));
        } catch (IOException e) {
            log.atWarn()
                    .setCause(e)
                    .addKeyValue("file", file)
                    .log("cannot write the notes of watchers; they are lost at the next restart");
        }
    }

    Map<String, WatchWish> read() {
        try {
            var known = Json.read(Files.readAllBytes(file), new TypeReference<Map<String, WatchWish>>() {});
            return known == null ? Map.of() : known;
        } catch (NoSuchFileException e) {
            return Map.of();
        } catch (IOException | JacksonException | CayException e) {
            log.atWarn()
                    .setCause(e)
                    .addKeyValue("file", file)
                    .log("the notes of watchers cannot be read; earlier watchers are lost");
            return Map.of();
        }
    }
}
