package dev.cay.node.sandbox;

import dev.cay.node.files.Account;
import dev.cay.node.files.FileTree;
import dev.cay.node.files.SandboxPath;
import dev.cay.wire.CayException;
import dev.cay.wire.node.SandboxSpec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Files below `/run/e2b` in which programs look for where they are. Root inside may have put anything in the way,
/// which is its own loss.
final class SandboxIdentity {
    private static final Logger log = LoggerFactory.getLogger(SandboxIdentity.class);

    /// The variable in which the server names the sandbox's team. A client cannot choose it.
    static final String TEAM = "E2B_TEAM_ID";

    private SandboxIdentity() {}

    static void write(SandboxSpec spec, FileTree files) {
        var texts = Map.of(
                "SANDBOX",
                "true",
                "SANDBOX_ID",
                spec.id().value(),
                "TEMPLATE_ID",
                spec.templateId().value());
        write(spec, texts, files);
        writeTeam(spec, files);
    }

    /// Writes nothing for a spare sandbox, which has no owner yet.
    static void writeTeam(SandboxSpec spec, FileTree files) {
        String team = spec.environment().get(TEAM);
        if (team != null) {
            write(spec, Map.of("TEAM_ID", team), files);
        }
    }

    private static void write(SandboxSpec spec, Map<String, String> texts, FileTree files) {
        for (var text : texts.entrySet()) {
            var path = new SandboxPath("/run/e2b/.E2B_" + text.getKey());
            try (var file = files.write(path, Account.ROOT, Map.of())) {
                file.write(text.getValue().getBytes(StandardCharsets.UTF_8));
                file.setMode(0444);
            } catch (IOException | CayException e) {
                log.atWarn()
                        .setCause(e)
                        .addKeyValue("sandbox", spec.id())
                        .log("cannot write the identity files of a sandbox");
            }
        }
    }
}
