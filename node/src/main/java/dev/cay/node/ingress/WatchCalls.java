package dev.cay.node.ingress;

import dev.cay.connect.ConnectRoutes;
import dev.cay.connect.Sink;
import dev.cay.http.Exchange;
import dev.cay.node.files.SandboxPath;
import dev.cay.node.watch.Change;
import dev.cay.node.watch.Watch;
import dev.cay.wire.filesystem.CreateWatcherRequest;
import dev.cay.wire.filesystem.CreateWatcherResponse;
import dev.cay.wire.filesystem.EventType;
import dev.cay.wire.filesystem.FilesystemEvent;
import dev.cay.wire.filesystem.GetWatcherEventsRequest;
import dev.cay.wire.filesystem.GetWatcherEventsResponse;
import dev.cay.wire.filesystem.RemoveWatcherRequest;
import dev.cay.wire.filesystem.RemoveWatcherResponse;
import dev.cay.wire.filesystem.WatchDirRequest;
import dev.cay.wire.filesystem.WatchDirResponse;
import java.io.IOException;
import java.time.Duration;

/// `filesystem.Filesystem`: the calls that report changes, as a stream, or to clients that poll.
final class WatchCalls {
    private static final String SERVICE = "/filesystem.Filesystem/";

    private final EnvdSandbox sandbox;
    private final Users users;

    WatchCalls(EnvdSandbox sandbox, Users users) {
        this.sandbox = sandbox;
        this.users = users;
    }

    void addTo(ConnectRoutes calls) {
        calls.serverStream(SERVICE + "WatchDir", WatchDirRequest.getDefaultInstance(), this::watch)
                .unary(SERVICE + "CreateWatcher", CreateWatcherRequest.getDefaultInstance(), this::create)
                .unary(SERVICE + "GetWatcherEvents", GetWatcherEventsRequest.getDefaultInstance(), this::events)
                .unary(SERVICE + "RemoveWatcher", RemoveWatcherRequest.getDefaultInstance(), this::remove);
    }

    private void watch(ConnectRoutes.Call call, WatchDirRequest request, Sink<WatchDirResponse> answers)
            throws Exception {
        var path = resolve(call.exchange(), request.getPath());
        var watches = sandbox.watches();
        try (var watch = watches.open(
                path, request.getRecursive(), request.getIncludeEntry(), request.getAllowNetworkMounts())) {
            follow(call.exchange(), watch, answers);
        }
    }

    private static void follow(Exchange exchange, Watch watch, Sink<WatchDirResponse> answers) throws Exception {
        boolean little = EntryInfos.wantsLittle(exchange);
        Duration keepalive = Keepalive.of(exchange);
        answers.send(WatchDirResponse.newBuilder()
                .setStart(WatchDirResponse.StartEvent.getDefaultInstance())
                .build());
        while (true) {
            var change = watch.next(keepalive);
            answers.send(
                    change == null
                            ? WatchDirResponse.newBuilder()
                                    .setKeepalive(WatchDirResponse.KeepAlive.getDefaultInstance())
                                    .build()
                            : WatchDirResponse.newBuilder()
                                    .setFilesystem(event(change, little))
                                    .build());
        }
    }

    private CreateWatcherResponse create(ConnectRoutes.Call call, CreateWatcherRequest request) throws IOException {
        var path = resolve(call.exchange(), request.getPath());
        var watches = sandbox.watches();
        var watch =
                watches.open(path, request.getRecursive(), request.getIncludeEntry(), request.getAllowNetworkMounts());
        return CreateWatcherResponse.newBuilder()
                .setWatcherId(watches.keep(watch))
                .build();
    }

    private GetWatcherEventsResponse events(ConnectRoutes.Call call, GetWatcherEventsRequest request)
            throws IOException, InterruptedException {
        boolean little = EntryInfos.wantsLittle(call.exchange());
        var answer = GetWatcherEventsResponse.newBuilder();
        var watch = sandbox.watches().require(request.getWatcherId());
        watch.takeAll().forEach(change -> answer.addEvents(event(change, little)));
        return answer.build();
    }

    private RemoveWatcherResponse remove(ConnectRoutes.Call call, RemoveWatcherRequest request) {
        sandbox.watches().remove(request.getWatcherId());
        return RemoveWatcherResponse.getDefaultInstance();
    }

    private SandboxPath resolve(Exchange exchange, String path) throws IOException {
        var user = users.ofCall(exchange);
        String directory = sandbox.defaultWorkdir() == null ? user.home() : sandbox.defaultWorkdir();
        return SandboxPath.resolve(path, user, directory);
    }

    private static FilesystemEvent event(Change change, boolean little) {
        var event = FilesystemEvent.newBuilder()
                .setName(change.name())
                .setType(
                        switch (change.kind()) {
                            case CREATE -> EventType.EVENT_TYPE_CREATE;
                            case WRITE -> EventType.EVENT_TYPE_WRITE;
                            case REMOVE -> EventType.EVENT_TYPE_REMOVE;
                            case RENAME -> EventType.EVENT_TYPE_RENAME;
                            case CHMOD -> EventType.EVENT_TYPE_CHMOD;
                        });
        if (change.entry() != null) {
            event.setEntry(EntryInfos.of(change.entry(), little));
        }
        return event.build();
    }
}
