package dev.cay.server.webhook;

import dev.cay.server.access.Team;
import dev.cay.server.request.RequestBody;
import dev.cay.server.store.Store;
import dev.cay.web.Dialer;
import dev.cay.web.UrlOrigin;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.URI;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The webhooks of all teams, each of which knows only its own.
final class WebhookBook {
    private static final Logger log = LoggerFactory.getLogger(WebhookBook.class);

    /// Limit of webhooks, because every event is stored once for each.
    static final int MOST_PER_TEAM = 20;

    private final Store store;
    private final SigningSecrets secrets;
    private final Dialer dialer;
    private final InstantSource clock;

    WebhookBook(Store store, SigningSecrets secrets, Dialer dialer, InstantSource clock) {
        this.store = store;
        this.secrets = secrets;
        this.dialer = dialer;
        this.clock = clock;
    }

    Webhook create(Team team, WebhookRequest request) {
        request.requireAll();
        String url = Objects.requireNonNull(request.url());
        check(team, url);
        String id = UUID.randomUUID().toString();
        var webhook = new Webhook(
                id,
                team.id(),
                Objects.requireNonNull(request.name()),
                url,
                Objects.requireNonNull(request.events()),
                secrets.seal(id, Objects.requireNonNull(request.secret())),
                !Boolean.FALSE.equals(request.enabled()),
                clock.instant().truncatedTo(ChronoUnit.MILLIS),
                null,
                null,
                null);
        return store.write(handle -> {
            var there = WebhookStore.list(handle, team.id());
            boolean again = there.stream().anyMatch(one -> one.id().equals(id));
            if (!again && there.size() >= MOST_PER_TEAM) {
                throw new CayException(
                        ErrorKind.CONFLICT,
                        "a team can have %d webhooks; delete one of them first".formatted(MOST_PER_TEAM));
            }
            WebhookStore.insert(handle, webhook);
            return webhook;
        });
    }

    List<Webhook> list(Team team) {
        return store.read(handle -> WebhookStore.list(handle, team.id()));
    }

    Webhook require(Team team, String id) {
        return store.read(handle -> WebhookStore.find(handle, team.id(), id)).orElseThrow(() -> unknown(id));
    }

    Webhook update(Team team, String id, WebhookRequest request) {
        String url = request.url();
        if (url != null) {
            check(team, url);
        }
        return store.write(handle -> {
            var old = WebhookStore.find(handle, team.id(), id).orElseThrow(() -> unknown(id));
            WebhookStore.update(
                    handle,
                    new Webhook(
                            id,
                            old.teamId(),
                            request.name() == null ? old.name() : request.name(),
                            url == null ? old.url() : url,
                            request.events() == null ? old.events() : request.events(),
                            request.secret() == null ? old.sealedSecret() : secrets.seal(id, request.secret()),
                            request.enabled() == null ? old.enabled() : request.enabled(),
                            old.createdAt(),
                            null,
                            old.disabledAt(),
                            old.disabledReason()));
            return WebhookStore.find(handle, team.id(), id).orElseThrow(() -> unknown(id));
        });
    }

    /// Deletes a webhook. Its messages are removed later.
    void delete(Team team, String id) {
        require(team, id);
        store.write(handle -> WebhookStore.delete(handle, team.id(), id));
    }

    /// Checks the address early, so that a user gets an error for an address that is never called. Every attempt checks
    /// again.
    private void check(Team team, String url) {
        try {
            dialer.check(UrlOrigin.of(URI.create(url)), team.id().value());
        } catch (CayException e) {
            if (e.kind() == ErrorKind.PERMISSION_DENIED) {
                throw RequestBody.invalid("'url': " + e.userMessage());
            }
            throw e;
        } catch (IOException e) {
            log.atDebug().setCause(e).log("the host of a webhook cannot be looked up yet");
        }
    }

    private static CayException unknown(String id) {
        return new CayException(
                ErrorKind.NOT_FOUND,
                "there is no webhook '%s'".formatted(id.length() > 60 ? id.substring(0, 60) + "..." : id));
    }
}
