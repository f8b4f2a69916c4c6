package dev.cay.server;

import dev.cay.server.audit.AuditLog;
import dev.cay.server.build.BuildService;
import dev.cay.server.log.OtlpSettings;
import dev.cay.server.people.PersonAccess;
import dev.cay.server.quota.Limits;
import dev.cay.server.webhook.Webhooks;
import dev.cay.wire.node.Durability;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What an operator decides about the server.
///
/// @param domain what host names of sandboxes end in, with a port unless that is 443
public record ServerSettings(
        String domain, Files files, Teams teams, Sandboxes sandboxes, Templates templates, Observation observation) {
    /// Where the server keeps what is not in the store.
    ///
    /// @param secret     file of the key that sandboxes' tokens are derived from; made when absent, mode 0600
    /// @param adminToken file of the operator's token; made when absent, mode 0600
    /// @param records    directory of metrics and logs of sandboxes
    public record Files(Path secret, Path adminToken, Path records) {}

    /// @param limits of teams for which the operator has set none
    /// @param people what holds for people who sign in
    public record Teams(Limits limits, PersonAccess.Settings people) {}

    /// @param timeout       how long a sandbox lives whose client did not say
    /// @param maxTimeout    longest life of a sandbox from its start
    /// @param keepPaused    how long a paused sandbox is kept; null for ever
    /// @param pauseAck      what is awaited before a pause is answered
    /// @param patience      how long a request waits for a sandbox that is being paused or resumed
    /// @param openAddresses places in the operator's network that sandboxes may connect to, as `address:port`
    public record Sandboxes(
            Duration timeout,
            Duration maxTimeout,
            @Nullable Duration keepPaused,
            Durability pauseAck,
            Duration patience,
            List<String> openAddresses) {
        public Sandboxes {
            openAddresses = List.copyOf(openAddresses);
        }
    }

    /// @param builds     what holds for builds of templates
    /// @param keepUnused how long layers and other things stay that nothing refers to; null if none is removed
    public record Templates(
            BuildService.Settings builds, @Nullable Duration keepUnused) {}

    /// @param measureEvery time between two readings of what sandboxes use
    /// @param audit        what holds for the audit log
    /// @param otlp         where lines of logs are sent
    /// @param webhooks     what holds for webhooks
    public record Observation(
            Duration measureEvery, AuditLog.Settings audit, OtlpSettings otlp, Webhooks.Settings webhooks) {}
}
