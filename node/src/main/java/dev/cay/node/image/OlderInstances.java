package dev.cay.node.image;

import dev.cay.http.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/// Instances of this host whose version of Cay keeps no {@link Claims}. Their sandboxes, and the layers of these, are
/// on record in their state directories.
///
/// @param stateDirs of these instances
record OlderInstances(List<Path> stateDirs) {
    Set<String> layers() throws IOException {
        var layers = new HashSet<String>();
        for (var stateDir : stateDirs) {
            addAll(layers, stateDir.resolve("sandboxes"), "sandbox.json");
            addAll(layers, stateDir.resolve("pool/snapshots"), "about.json");
        }
        return layers;
    }

    private static void addAll(Set<String> layers, Path directory, String file) throws IOException {
        if (!Files.isDirectory(directory)) {
            return;
        }
        try (var folders = Files.newDirectoryStream(directory)) {
            for (var folder : folders) {
                if (Files.isDirectory(folder)) {
                    add(layers, folder.resolve(file));
                }
            }
        }
    }

    private static void add(Set<String> layers, Path file) throws IOException {
        try {
            var record = Json.mapper().readTree(Files.readAllBytes(file));
            for (JsonNode list :
                    List.of(record.path("layers"), record.path("spec").path("layers"))) {
                list.forEach(key -> layers.add(key.asString("")));
            }
        } catch (NoSuchFileException | JacksonException _) {
            // The sandbox was removed meanwhile, or can only be removed.
        }
    }
}
