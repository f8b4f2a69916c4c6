package dev.cay.server.webhook;

import dev.cay.http.Routes;
import dev.cay.life.Undo;
import dev.cay.metrics.Meters;
import dev.cay.server.access.Access;
import dev.cay.server.access.Audit;
import dev.cay.server.access.SandboxTokens;
import dev.cay.server.store.Store;
import dev.cay.server.store.Transaction;
import dev.cay.web.Addresses;
import dev.cay.web.Dialer;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;

/// Webhooks, put together.
public final class Webhooks implements AutoCloseable {
    /// The setting by which operators allow receivers that are not public.
    private static final String SETTING = "webhooks.allow";

    /// Rows deleted in one transaction: others wait for it.
    private static final int PORTION = 500;

    private static final Duration KEPT = Duration.ofDays(7);

    /// Messages of one webhook that are kept for its deliveries, beside those that are to be sent.
    private static final int MOST_KEPT = 50_000;

    /// Settings of webhooks.
    ///
    /// @param allow       non-public hosts, `*.domains` and ranges at which receivers may be
    /// @param answerLimit time for a receiver's answer
    /// @param lookAgain   time between two queries while messages wait for a retry
    public record Settings(List<String> allow, Duration answerLimit, Duration lookAgain) {
        public Settings {
            allow = List.copyOf(allow);
        }

        /// The usual times.
        public static Settings allowing(List<String> allow) {
            return new Settings(allow, Duration.ofSeconds(15), Duration.ofSeconds(1));
        }
    }

    private final Undo opened = new Undo();
    private final Store store;
    private final InstantSource clock;
    private final Deliverer deliverer;
    private final WebhookRoutes routes;
    private final DeliveryRoutes deliveries;

    public Webhooks(
            Settings settings,
            Store store,
            Access access,
            SandboxTokens tokens,
            Audit audit,
            InstantSource clock,
            SecureRandom random,
            Meters meters) {
        this.store = store;
        this.clock = clock;
        // Plain http is for the receiver's owner to choose: the events name no secrets.
        var rules = new Dialer.Rules(Addresses.allowing(settings.allow()), Set.of(), true, SETTING);
        var dialer = opened.add(new Dialer(rules, System.getenv()));
        var secrets = new SigningSecrets(tokens.sealingKey("webhooks"), random);
        var call = new WebhookCall(team -> dialer.forOwner(team.value()), secrets, clock, settings.answerLimit());
        deliverer = opened.add(new Deliverer(store, call, audit, clock, settings.lookAgain(), meters));
        var book = new WebhookBook(store, secrets, dialer, clock);
        routes = new WebhookRoutes(access, book, call, deliverer::wake);
        deliveries = new DeliveryRoutes(access, book, store, clock, deliverer::wake);
    }

    public void addTo(Routes all) {
        routes.addTo(all);
        deliveries.addTo(all);
    }

    /// Starts to send, also what an earlier daemon left open.
    public void start() {
        deliverer.start();
    }

    /// Wakes the deliverer, because there may be a message to send.
    public void wake() {
        deliverer.wake();
    }

    /// Deletes old messages, the oldest ones of a webhook that has very many, and those of deleted webhooks.
    public void forgetOld() {
        Instant before = clock.instant().minus(KEPT);
        forget(handle -> MessageStore.old(handle, before, PORTION));
        for (String webhook : store.read(MessageStore::deletedWebhooks)) {
            forget(handle -> MessageStore.ofWebhook(handle, webhook, PORTION));
        }
        for (String webhook : store.read(MessageStore::webhooks)) {
            forget(handle -> MessageStore.beyond(handle, webhook, MOST_KEPT, PORTION));
        }
    }

    private void forget(Transaction<List<MessageStore.Key>> next) {
        List<MessageStore.Key> found;
        do {
            found = store.read(next);
            var portion = found;
            store.write(handle -> MessageStore.delete(handle, portion));
        } while (found.size() == PORTION);
    }

    @Override
    public void close() {
        opened.close();
    }
}
