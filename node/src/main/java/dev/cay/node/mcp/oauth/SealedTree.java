package dev.cay.node.mcp.oauth;

import dev.cay.http.Json;
import dev.cay.life.WholeFile;
import dev.cay.node.mcp.seal.Seal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.node.ObjectNode;

/// A small JSON document on disk that holds credentials and that only this installation can read.
final class SealedTree {
    private static final Logger log = LoggerFactory.getLogger(SealedTree.class);

    private final Seal seal;
    private final Path file;

    SealedTree(Seal seal, Path file) {
        this.seal = seal;
        this.file = file;
    }

    /// Empty if there is none, or none that can be read here.
    ObjectNode read() {
        try {
            var plain = seal.open(Files.readAllBytes(file));
            if (plain.isPresent() && Json.mapper().readTree(plain.get()) instanceof ObjectNode tree) {
                return tree;
            }
            log.atWarn().addKeyValue("file", file).log("tokens of MCP servers were sealed with another key");
        } catch (NoSuchFileException _) {
            // Nothing was kept.
        } catch (IOException | JacksonException e) {
            // Without the cause, which may quote a token.
            log.atWarn().addKeyValue("file", file).log("tokens of MCP servers cannot be read");
        }
        return Json.mapper().createObjectNode();
    }

    /// Writes the file. After a failure the content is lost with the daemon.
    void write(ObjectNode tree) {
        try {
            if (tree.isEmpty()) {
                Files.deleteIfExists(file);
            } else {
                WholeFile.write(file, seal.close(Json.write(tree)), PosixFilePermissions.fromString("rw-------"));
            }
        } catch (IOException e) {
            log.atWarn().setCause(e).addKeyValue("file", file).log("tokens of MCP servers cannot be written");
        }
    }
}
