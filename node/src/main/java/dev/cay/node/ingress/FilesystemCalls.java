package dev.cay.node.ingress;

import dev.cay.connect.ConnectRoutes;
import dev.cay.http.Exchange;
import dev.cay.node.files.Account;
import dev.cay.node.files.Entry;
import dev.cay.node.files.SandboxPath;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.filesystem.EntryInfo;
import dev.cay.wire.filesystem.ListDirRequest;
import dev.cay.wire.filesystem.ListDirResponse;
import dev.cay.wire.filesystem.MakeDirRequest;
import dev.cay.wire.filesystem.MakeDirResponse;
import dev.cay.wire.filesystem.MoveRequest;
import dev.cay.wire.filesystem.MoveResponse;
import dev.cay.wire.filesystem.RemoveRequest;
import dev.cay.wire.filesystem.RemoveResponse;
import dev.cay.wire.filesystem.StatRequest;
import dev.cay.wire.filesystem.StatResponse;
import java.io.IOException;

/// `filesystem.Filesystem`: calls that list, show, move and remove files.
final class FilesystemCalls {
    private static final String SERVICE = "/filesystem.Filesystem/";

    private final EnvdSandbox sandbox;
    private final Users users;

    FilesystemCalls(EnvdSandbox sandbox, Users users) {
        this.sandbox = sandbox;
        this.users = users;
    }

    void addTo(ConnectRoutes calls) {
        calls.unary(SERVICE + "Stat", StatRequest.getDefaultInstance(), this::stat)
                .unary(SERVICE + "ListDir", ListDirRequest.getDefaultInstance(), this::list)
                .unary(SERVICE + "MakeDir", MakeDirRequest.getDefaultInstance(), this::makeDirectory)
                .unary(SERVICE + "Move", MoveRequest.getDefaultInstance(), this::move)
                .unary(SERVICE + "Remove", RemoveRequest.getDefaultInstance(), this::remove);
    }

    private StatResponse stat(ConnectRoutes.Call call, StatRequest request) throws IOException {
        var path = resolve(call.exchange(), request.getPath());
        try {
            return StatResponse.newBuilder()
                    .setEntry(info(call, sandbox.files().stat(path)))
                    .build();
        } catch (CayException e) {
            if (e.kind() != ErrorKind.NOT_FOUND) {
                throw e;
            }
            throw new CayException(ErrorKind.NOT_FOUND, "file not found: " + e.userMessage(), e);
        }
    }

    private ListDirResponse list(ConnectRoutes.Call call, ListDirRequest request) throws IOException {
        var path = resolve(call.exchange(), request.getPath());
        var answer = ListDirResponse.newBuilder();
        int depth = Math.clamp(Integer.toUnsignedLong(request.getDepth()), 1, Integer.MAX_VALUE);
        boolean little = EntryInfos.wantsLittle(call.exchange());
        sandbox.files()
                .list(path, depth, call::demandMemory)
                .forEach(entry -> answer.addEntries(EntryInfos.of(entry, little)));
        return answer.build();
    }

    private MakeDirResponse makeDirectory(ConnectRoutes.Call call, MakeDirRequest request) throws IOException {
        var user = users.ofCall(call.exchange());
        var path = resolve(user, request.getPath());
        if (!sandbox.files().makeDirectory(path, user)) {
            throw new CayException(ErrorKind.ALREADY_EXISTS, "directory already exists: " + path);
        }
        FileLog.made(sandbox.log(), path, user);
        return MakeDirResponse.newBuilder()
                .setEntry(info(call, sandbox.files().stat(path)))
                .build();
    }

    private MoveResponse move(ConnectRoutes.Call call, MoveRequest request) throws IOException {
        var user = users.ofCall(call.exchange());
        var destination = resolve(user, request.getDestination());
        var source = resolve(user, request.getSource());
        sandbox.files().move(source, destination, user);
        FileLog.moved(sandbox.log(), source, destination, user);
        return MoveResponse.newBuilder()
                .setEntry(info(call, sandbox.files().stat(destination)))
                .build();
    }

    private RemoveResponse remove(ConnectRoutes.Call call, RemoveRequest request) throws IOException {
        var user = users.ofCall(call.exchange());
        var path = resolve(user, request.getPath());
        sandbox.files().remove(path);
        FileLog.removed(sandbox.log(), path, user);
        return RemoveResponse.getDefaultInstance();
    }

    private SandboxPath resolve(Exchange exchange, String path) throws IOException {
        return resolve(users.ofCall(exchange), path);
    }

    private SandboxPath resolve(Account user, String path) {
        String directory = sandbox.defaultWorkdir() == null ? user.home() : sandbox.defaultWorkdir();
        return SandboxPath.resolve(path, user, directory);
    }

    private static EntryInfo info(ConnectRoutes.Call call, Entry entry) {
        return EntryInfos.of(entry, EntryInfos.wantsLittle(call.exchange()));
    }
}
