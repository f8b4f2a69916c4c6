package dev.cay.server.volume;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Caller;
import dev.cay.server.access.KeyScope;
import dev.cay.server.access.Team;
import dev.cay.server.request.RequestBody;
import dev.cay.wire.VolumeId;
import dev.cay.wire.rest.VolumeAndToken;
import dev.cay.wire.rest.VolumeInfo;
import java.util.Locale;

/// Routes of volumes.
public final class VolumeRoutes {
    private static final String ONE = "/volumes/{volumeID}";

    private final Access access;
    private final Volumes volumes;
    private final VolumeTokens tokens;
    private final String domain;

    /// @param domain always told, so that host names made by clients lead back here
    public VolumeRoutes(Access access, Volumes volumes, VolumeTokens tokens, String domain) {
        this.access = access;
        this.volumes = volumes;
        this.tokens = tokens;
        this.domain = domain;
    }

    public void addTo(Routes routes) {
        routes.on("GET", "/volumes", access.guard(this::list));
        routes.on("POST", "/volumes", access.guardCaller(this::create));
        routes.on("GET", ONE, access.guardCaller(this::show));
        routes.on("DELETE", ONE, access.guard(this::delete));
    }

    private void list(Team team, Exchange exchange) {
        var used = volumes.used();
        exchange.sendJson(
                200,
                volumes.list(team).stream()
                        .map(volume -> {
                            Long bytes = used.get(volume.id());
                            return new VolumeInfo(
                                    volume.id(), volume.name(), volume.sizeMB(), bytes == null ? null : bytes >> 20);
                        })
                        .toList());
    }

    private void create(Caller caller, Exchange exchange) {
        var body = RequestBody.of(exchange);
        var volume = volumes.create(caller, body.text("name"), body.integer("sizeMB"));
        exchange.about("volume", volume.id().value())
                .sendJson(
                        201,
                        opened(volume, tokens.make(volume.id(), access.holders().name(caller))));
    }

    private void show(Caller caller, Exchange exchange) {
        var volume = volume(caller.team(), exchange);
        boolean writes = caller.scope().equals(KeyScope.ALL);
        String holder = access.holders().name(caller);
        String token = writes ? tokens.make(volume.id(), holder) : tokens.makeReader(volume.id(), holder);
        exchange.sendJson(200, opened(volume, token));
    }

    private void delete(Team team, Exchange exchange) {
        var volume = volume(team, exchange);
        exchange.about("volume", volume.id().value());
        volumes.delete(volume);
        exchange.send(204);
    }

    private Volume volume(Team team, Exchange exchange) {
        return volumes.require(team, new VolumeId(exchange.parameter("volumeID").toLowerCase(Locale.ROOT)));
    }

    private VolumeAndToken opened(Volume volume, String token) {
        return new VolumeAndToken(volume.id(), volume.name(), token, domain, volume.sizeMB());
    }
}
