package dev.cay.server.webhook;

import dev.cay.wire.TeamId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/// Counts the attempts under way, so that receivers that hang hold up nobody but their own team.
///
/// The fewer places are free, the fewer one team may have: it never gets more than a quarter of what is left, but
/// always one while there is one. So many teams with such receivers are needed to take all.
final class AttemptLimits {
    private static final int TOTAL = 256;
    private static final int PER_TEAM = 8;
    private static final int PER_WEBHOOK = 4;

    private record Line(String webhookId, String sandboxId) {}

    private final int total;
    private final int perTeam;
    private final int perWebhook;
    private final Set<Line> lines = new HashSet<>();
    private final Map<TeamId, Integer> teams = new HashMap<>();
    private final Map<String, Integer> webhooks = new HashMap<>();

    AttemptLimits() {
        this(TOTAL, PER_TEAM, PER_WEBHOOK);
    }

    AttemptLimits(int total, int perTeam, int perWebhook) {
        this.total = total;
        this.perTeam = perTeam;
        this.perWebhook = perWebhook;
    }

    /// How many more attempts may begin.
    synchronized int freeFor(Webhook webhook) {
        int free = total - lines.size();
        int own = teams.getOrDefault(webhook.teamId(), 0);
        int share = Math.clamp((free + own) / 4, 1, perTeam);
        return Math.min(Math.min(free, share - own), perWebhook - of(webhook));
    }

    synchronized int of(Webhook webhook) {
        return webhooks.getOrDefault(webhook.id(), 0);
    }

    synchronized int of(TeamId team) {
        return teams.getOrDefault(team, 0);
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

    /// @return false if there is no room for it
    synchronized boolean addIfFree(Webhook webhook, Message message) {
        return freeFor(webhook) > 0 && add(webhook, message);
    }

    synchronized void remove(Webhook webhook, Message message) {
        lines.remove(new Line(webhook.id(), message.sandboxId()));
        teams.computeIfPresent(webhook.teamId(), (_, count) -> count > 1 ? count - 1 : null);
        webhooks.computeIfPresent(webhook.id(), (_, count) -> count > 1 ? count - 1 : null);
    }
}
