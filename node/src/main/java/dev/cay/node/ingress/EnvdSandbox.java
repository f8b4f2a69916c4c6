package dev.cay.node.ingress;

import dev.cay.http.Exchange;
import dev.cay.node.files.FileTree;
import dev.cay.node.log.SandboxLog;
import dev.cay.node.process.ProcessTable;
import dev.cay.node.watch.Watches;
import dev.cay.wire.AccessToken;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.ResourceUse;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// What {@link Envd} and its routes know of their sandbox.
///
/// @param defaults       variables of every process that nobody asked for, and anybody may replace
/// @param environment    the variables its creator asked for
/// @param accessToken    what requests must carry, or null when it is open to all
/// @param defaultWorkdir where processes start, or null for the user's home
/// @param watches        who is told of changes in the files
/// @param followers      sees to those who follow a process
public record EnvdSandbox(
        SandboxId id,
        TemplateId templateId,
        Map<String, String> defaults,
        Map<String, String> environment,
        @Nullable AccessToken accessToken,
        String defaultUser,
        @Nullable String defaultWorkdir,
        ProcessTable processes,
        FileTree files,
        Watches watches,
        Followers followers,
        Supplier<ResourceUse> use,
        SandboxLog log) {
    /// Clients who follow a process go on when their sandbox was away for a moment, to be saved.
    public interface Followers {
        /// From now on the exchange outlasts such a moment.
        void add(Exchange exchange);

        /// Waits until the sandbox is back.
        ///
        /// @return the table that goes on with its processes
        ProcessTable rejoin(Exchange exchange) throws InterruptedException;
    }

    public EnvdSandbox {
        defaults = Map.copyOf(defaults);
        environment = Map.copyOf(environment);
    }

    Map<String, String> variables() {
        return variables(id, templateId, environment);
    }

    Map<String, String> identity() {
        return identity(id, templateId);
    }

    /// Variables of every process; those that tell it where it is cannot be chosen.
    public static Map<String, String> variables(SandboxId id, TemplateId templateId, Map<String, String> environment) {
        var all = new TreeMap<>(environment);
        all.putAll(identity(id, templateId));
        return all;
    }

    private static Map<String, String> identity(SandboxId id, TemplateId templateId) {
        return Map.of("E2B_SANDBOX", "true", "E2B_SANDBOX_ID", id.value(), "E2B_TEMPLATE_ID", templateId.value());
    }
}
