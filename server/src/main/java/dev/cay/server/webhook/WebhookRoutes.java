package dev.cay.server.webhook;

import dev.cay.http.Exchange;
import dev.cay.http.Json;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Team;
import dev.cay.server.request.RequestBody;
import dev.cay.wire.CayException;
import dev.cay.wire.rest.WebhookInfo;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.UUID;

/// Routes of webhooks.
final class WebhookRoutes {
    private static final String ONE = "/events/webhooks/{webhookID}";
    private static final String TEST_TYPE = "cay.webhook.test";

    private final Access access;
    private final WebhookBook book;
    private final WebhookCall call;
    private final Runnable changed;

    /// Tests of all teams: a receiver that hangs holds a connection and the request for many seconds.
    private final AttemptLimits tests = new AttemptLimits(16, 4, 1);

    /// @param changed is called when there may be something to send
    WebhookRoutes(Access access, WebhookBook book, WebhookCall call, Runnable changed) {
        this.access = access;
        this.book = book;
        this.call = call;
        this.changed = changed;
    }

    void addTo(Routes routes) {
        routes.on("GET", "/events/webhooks", access.guard(this::list));
        routes.on("POST", "/events/webhooks", access.guard(this::create));
        routes.on("GET", ONE, access.guard(this::show));
        routes.on("PATCH", ONE, access.guard(this::update));
        routes.on("DELETE", ONE, access.guard(this::delete));
        routes.on("POST", ONE + "/test", access.guard(this::test));
    }

    private void list(Team team, Exchange exchange) {
        exchange.sendJson(200, book.list(team).stream().map(WebhookRoutes::info).toList());
    }

    private void create(Team team, Exchange exchange) {
        var webhook = book.create(team, WebhookRequest.read(RequestBody.of(exchange)));
        exchange.about("webhook", webhook.id()).sendJson(201, info(webhook));
    }

    private void show(Team team, Exchange exchange) {
        exchange.sendJson(200, info(book.require(team, exchange.parameter("webhookID"))));
    }

    private void update(Team team, Exchange exchange) {
        var request = WebhookRequest.read(RequestBody.of(exchange));
        var webhook = book.update(team, exchange.parameter("webhookID"), request);
        changed.run();
        exchange.sendJson(200, info(webhook));
    }

    private void delete(Team team, Exchange exchange) {
        book.delete(team, exchange.parameter("webhookID"));
        exchange.send(200);
    }

    /// Sends one test attempt and returns its result. Nothing is recorded, because it is no event.
    private void test(Team team, Exchange exchange) {
        var webhook = book.require(team, exchange.parameter("webhookID"));
        String id = UUID.randomUUID().toString();
        var body = new LinkedHashMap<String, Object>();
        body.put("version", "v2");
        body.put("id", id);
        body.put("type", TEST_TYPE);
        body.put("webhookId", webhook.id());
        String text = Json.text(body);
        var message = new Message(
                0,
                webhook.id(),
                id,
                TEST_TYPE,
                "",
                text,
                Message.State.OPEN,
                0,
                webhook.createdAt(),
                null,
                false,
                null,
                List.of());
        if (!tests.addIfFree(webhook, message)) {
            throw CayException.exhausted(
                    "a test of this webhook, or too many of others, waits for its receiver; try again when that has ended",
                    Duration.ofSeconds(2));
        }
        exchange.sendJson(200, DeliveryRoutes.info(webhook, message, send(webhook, message)));
    }

    /// Its place is free again before the answer is sent: who has that may test once more.
    private Attempt send(Webhook webhook, Message test) {
        try {
            return call.send(webhook, test.eventId(), test.body());
        } finally {
            tests.remove(webhook, test);
        }
    }

    private static WebhookInfo info(Webhook webhook) {
        return new WebhookInfo(
                webhook.id(),
                webhook.teamId(),
                webhook.teamId(),
                webhook.name(),
                webhook.createdAt(),
                webhook.enabled(),
                webhook.url(),
                webhook.events(),
                webhook.failingSince(),
                webhook.disabledAt(),
                webhook.disabledReason());
    }
}
