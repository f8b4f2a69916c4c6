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
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The facts about a sandbox that {@link Envd} and its routes need.
///
/// @param defaults       default variables of every process, which the creator's variables and a command's own replace
/// @param environment    the variables of its creator
/// @param accessToken    token that requests must carry, or null for none
/// @param defaultWorkdir default directory of processes, or null for the user's home
/// @param watches        watches of directories
/// @param followers      clients that follow a process
/// @param listening      ports on which something inside listens
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
        Supplier<List<Integer>> listening,
        SandboxLog log) {
    /// Clients that follow a process continue after their sandbox was closed briefly for a save.
    public interface Followers {
        /// Lets the exchange continue after such a break.
        void add(Exchange exchange);

        /// Waits until the sandbox is open again.
        ///
        /// @return the table that has its processes now
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

    /// Variables of every process; those about the sandbox itself cannot be overridden.
    public static Map<String, String> variables(SandboxId id, TemplateId templateId, Map<String, String> environment) {
        var all = new TreeMap<>(environment);
        all.putAll(identity(id, templateId));
        return all;
    }

    private static Map<String, String> identity(SandboxId id, TemplateId templateId) {
        return Map.of("E2B_SANDBOX", "true", "E2B_SANDBOX_ID", id.value(), "E2B_TEMPLATE_ID", templateId.value());
    }
}
