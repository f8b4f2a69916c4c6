package dev.cay.server.webhook;

import dev.cay.wire.TeamId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/// Counts the attempts under way, so that receivers that hang hold up nobody but their own team.
final class UnderWay {
    static final int TOTAL = 32;
    static final int PER_TEAM = 8;
    static final int PER_WEBHOOK = 4;

    private record Line(String webhookId, String sandboxId) {}

    private final Set<Line> lines = new HashSet<>();
    private final Map<TeamId, Integer> teams = new HashMap<>();
    private final Map<String, Integer> webhooks = new HashMap<>();

    /// How many more attempts may begin.
    synchronized int freeFor(Webhook webhook) {
        int team = PER_TEAM - teams.getOrDefault(webhook.teamId(), 0);
        return Math.min(Math.min(TOTAL - lines.size(), team), PER_WEBHOOK - of(webhook));
    }

    synchronized int of(Webhook webhook) {
        return webhooks.getOrDefault(webhook.id(), 0);
    }

    /// @return false if a message of the same sandbox is under way
    synchronized boolean add(Webhook webhook, Message message) {
        if (!lines.add(new Line(webhook.id(), message.sandboxId()))) {
            return false;
        }
        teams.merge(webhook.teamId(), 1, Integer::sum);
        webhooks.merge(webhook.id(), 1, Integer::sum);
        return true;
    }

    synchronized void remove(Webhook webhook, Message message) {
        lines.remove(new Line(webhook.id(), message.sandboxId()));
        teams.computeIfPresent(webhook.teamId(), (_, count) -> count > 1 ? count - 1 : null);
        webhooks.computeIfPresent(webhook.id(), (_, count) -> count > 1 ? count - 1 : null);
    }
}
