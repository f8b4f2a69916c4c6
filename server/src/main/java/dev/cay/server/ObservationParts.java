package dev.cay.server;

import dev.cay.life.Undo;
import dev.cay.server.log.LogShipper;
import dev.cay.server.log.SandboxLogs;
import dev.cay.server.metrics.Sampler;
import dev.cay.server.metrics.SandboxMetrics;
import dev.cay.server.metrics.TeamMetrics;
import dev.cay.server.webhook.Webhooks;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.LogLine;

/// The parts that observe sandboxes: logs, metrics, and the delivery of events.
record ObservationParts(
        SandboxLogs logs,
        LogShipper shipper,
        SandboxMetrics metrics,
        TeamMetrics teamMetrics,
        Sampler sampler,
        Webhooks webhooks) {
    /// @param opened closes what has to be closed
    static ObservationParts make(
            ServerSettings settings,
            ServerBase base,
            TeamParts teams,
            SandboxParts sandboxes,
            Webhooks webhooks,
            Undo opened) {
        var files = settings.files().records();
        var directory = sandboxes.directory();
        var fleet = sandboxes.fleet();
        var clock = base.clock();
        var meters = base.meters();
        var shipper = opened.add(new LogShipper(settings.observation().otlp(), directory, meters));
        base.events().onEvent(event -> {
            webhooks.wake();
            teams.audit().happened(event);
            shipper.add(event);
        });
        var logs = opened.add(new SandboxLogs(files.resolve("sandbox-logs.ring"), base.store(), clock, meters));
        var metrics = opened.add(new SandboxMetrics(files, directory, fleet, clock, meters));
        var teamMetrics =
                opened.add(new TeamMetrics(files.resolve("team-metrics.ring"), directory, base.events(), clock));
        var sampler = opened.add(new Sampler(
                directory,
                metrics,
                teamMetrics,
                fleet.node()::keepRoomFor,
                sandboxes.storage().shares()::update,
                settings.observation().measureEvery()));
        base.events().addTo(meters);
        meters.gauges("cay_sandboxes", "Sandboxes that live, by state", "state", directory::byState);
        return new ObservationParts(logs, shipper, metrics, teamMetrics, sampler, webhooks);
    }

    /// Takes a line of a sandbox's log from the node.
    void add(SandboxId id, LogLine line) {
        logs.add(id, line);
        shipper.add(id, line);
    }

    void start() {
        sampler.start();
        webhooks.start();
        shipper.start();
    }
}
