package dev.cay.node.build;

import dev.cay.life.WholeFile;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.Unused;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// Remembers which layer a step made.
///
/// The key of a step is also that of its layer, unless the step was repeated although it was known: then the layer has
/// another key, and a file says which.
final class StepCache {
    private static final String ANSWER = ".answer";

    private final Path directory;
    private final LayerStore layers;

    StepCache(Path cacheDir, LayerStore layers) {
        this.directory = cacheDir.resolve("steps");
        this.layers = layers;
    }

    /// @param step hash of its inputs
    Optional<String> find(String step) {
        return redirected(step)
                .filter(layers::has)
                .or(() -> Optional.of(usual(step)).filter(layers::has));
    }

    static String usual(String step) {
        return "step-" + step;
    }

    /// Records the layer of a step.
    void note(String step, String layer) throws IOException {
        if (!layer.equals(usual(step))) {
            Files.createDirectories(directory);
            WholeFile.write(directory.resolve(step), layer.getBytes(StandardCharsets.UTF_8));
        }
    }

    /// Computes an answer about some layers.
    interface Question {
        List<String> ask() throws IOException;
    }

    /// Asks once, and has the answer from a file from then on.
    ///
    /// @param name hash of all that the answer depends on
    List<String> answer(String name, Question question) throws IOException {
        var file = directory.resolve(name + ANSWER);
        if (Files.exists(file)) {
            Files.setLastModifiedTime(file, FileTime.from(Instant.now()));
            return Files.readAllLines(file);
        }
        var lines = question.ask();
        Files.createDirectories(directory);
        WholeFile.write(file, String.join("\n", lines).getBytes(StandardCharsets.UTF_8));
        return lines;
    }

    /// Records of steps whose layer was removed, and answers that were not used recently.
    ///
    /// @param before answers that were used after this moment stay
    Optional<Unused> unused(Instant before) {
        if (!Files.isDirectory(directory)) {
            return Optional.empty();
        }
        try (var files = Files.list(directory)) {
            return Unused.files(
                    "notes of steps", files.filter(file -> isLost(file, before)).toList(), Files::deleteIfExists);
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "cannot look for unused files in " + directory, e);
        }
    }

    private boolean isLost(Path file, Instant before) {
        String name = file.getFileName().toString();
        if (name.endsWith(ANSWER)) {
            return Instant.ofEpochMilli(file.toFile().lastModified()).isBefore(before);
        }
        return redirected(name)
                .filter(layer -> !layer.isEmpty() && !layers.has(layer))
                .isPresent();
    }

    private Optional<String> redirected(String step) {
        try {
            return Optional.of(Files.readString(directory.resolve(step)).strip());
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
