package dev.cay.server.audit;

import java.util.List;
import java.util.Map;

/// Names of requests in the audit log.
final class ActionNames {
    /// Names by method and route, where the rule of {@link #derived} gives a poor one.
    private static final Map<String, String> NAMES = Map.ofEntries(
            Map.entry("DELETE /sandboxes/{sandboxID}", "sandbox.kill"),
            Map.entry("POST /sandboxes/{sandboxID}/refreshes", "sandbox.refresh"),
            Map.entry("POST /sandboxes/{sandboxID}/snapshots", "sandbox.snapshot"),
            Map.entry("POST /sandboxes/{sandboxID}/mcp/{server}/authorize", "sandbox.mcp.authorize"),
            Map.entry("POST /v2/templates/{templateID}/builds/{buildID}", "build.start"),
            Map.entry("POST /templates/{templateID}/builds/{buildID}/cancel", "build.cancel"),
            Map.entry("PUT /templates/{templateID}/files/{hash}/content", "template.upload"),
            Map.entry("GET /mcp/oauth/callback", "sandbox.mcp.authorized"),
            Map.entry("POST /templates/tags", "template.tag"),
            Map.entry("DELETE /templates/tags", "template.untag"),
            Map.entry("POST /api-keys", "key.create"),
            Map.entry("PATCH /api-keys/{apiKeyID}", "key.rename"),
            Map.entry("DELETE /api-keys/{apiKeyID}", "key.revoke"),
            Map.entry("POST /api-keys/{apiKeyID}/rotate", "key.rotate"),
            Map.entry("POST /admin/teams/{teamID}/api-keys", "key.create"),
            Map.entry("PATCH /admin/teams/{teamID}/api-keys/{apiKeyID}", "key.rename"),
            Map.entry("DELETE /admin/teams/{teamID}/api-keys/{apiKeyID}", "key.revoke"),
            Map.entry("POST /admin/teams/{teamID}/api-keys/{apiKeyID}/rotate", "key.rotate"),
            Map.entry("POST /admin/teams/{teamID}/sandboxes/kill", "team.kill"),
            Map.entry("POST /admin/teams/{teamID}/builds/cancel", "team.cancel-builds"),
            Map.entry("PUT /admin/teams/{teamID}/limits", "team.limit"),
            Map.entry("DELETE /admin/teams/{teamID}/limits", "team.unlimit"),
            Map.entry("PUT /api-keys/{apiKeyID}/limits", "key.limit"),
            Map.entry("PUT /admin/teams/{teamID}/api-keys/{apiKeyID}/limits", "key.limit"),
            Map.entry("GET /members", "team.read-members"),
            Map.entry("PUT /members/{email}", "team.add-member"),
            Map.entry("DELETE /members/{email}", "team.remove-member"),
            Map.entry("PUT /admin/teams/{teamID}/members/{email}", "team.add-member"),
            Map.entry("DELETE /admin/teams/{teamID}/members/{email}", "team.remove-member"),
            Map.entry("POST /admin/people/{email}/link", "person.link"),
            Map.entry("DELETE /admin/people/{email}", "person.remove"),
            Map.entry("POST /admin/backups", "backup.create"),
            Map.entry("POST /admin/collections", "disk.collect"),
            Map.entry("POST /secrets/{secretID}", "secret.update"),
            Map.entry("PATCH /volumecontent/{volumeID}/path", "volume.change-file"),
            Map.entry("DELETE /volumecontent/{volumeID}/path", "volume.delete-file"),
            Map.entry("POST /volumecontent/{volumeID}/dir", "volume.make-directory"),
            Map.entry("PUT /volumecontent/{volumeID}/file", "volume.write-file"),
            Map.entry("POST /events/webhooks", "webhook.create"),
            Map.entry("PATCH /events/webhooks/{webhookID}", "webhook.update"),
            Map.entry("DELETE /events/webhooks/{webhookID}", "webhook.delete"),
            Map.entry("POST /events/webhooks/{webhookID}/test", "webhook.test"),
            Map.entry("POST /events/webhooks/{webhookID}/redeliveries", "webhook.redeliver"));

    private static final Map<String, String> KINDS = Map.of(
            "sandboxes", "sandbox",
            "templates", "template",
            "snapshots", "snapshot",
            "volumes", "volume",
            "volumecontent", "volume",
            "teams", "team",
            "api-keys", "key",
            "collections", "disk",
            "secrets", "secret",
            "events", "event");

    private ActionNames() {}

    static String of(String method, String route) {
        return NAMES.getOrDefault(method + " " + route, derived(method, route));
    }

    /// The kind of thing, then its last word or what the method means: `POST /sandboxes/{id}/pause` is `sandbox.pause`.
    private static String derived(String method, String route) {
        var words = List.of(route.split("/")).stream()
                .filter(word -> !word.isEmpty() && !word.startsWith("{") && !word.matches("v\\d|admin"))
                .toList();
        if (words.isEmpty()) {
            return "api." + verb(method);
        }
        String kind = KINDS.getOrDefault(words.getFirst(), words.getFirst());
        if (method.equals("GET") || method.equals("HEAD")) {
            return words.size() == 1 ? kind + ".read" : "%s.read-%s".formatted(kind, words.getLast());
        }
        return "%s.%s".formatted(kind, words.size() == 1 ? verb(method) : words.getLast());
    }

    private static String verb(String method) {
        return switch (method) {
            case "POST" -> "create";
            case "DELETE" -> "delete";
            default -> "update";
        };
    }
}
