package dev.cay.server.backup;

import dev.cay.backup.BackupWriter;
import dev.cay.backup.Manifest;
import dev.cay.backup.PartHead;
import dev.cay.http.Exchange;
import dev.cay.http.Json;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.request.RequestBody;
import dev.cay.server.sandbox.SandboxRecords;
import dev.cay.server.store.Store;
import dev.cay.server.store.StoreView;
import dev.cay.wire.CayException;
import dev.cay.wire.CayVersion;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.NodeBackup;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sends a backup to the operator, one at a time.
///
/// The order makes it consistent. First the node stops deleting files. Then, while no record of a sandbox changes, a
/// view of the store is opened and the node notes which sandboxes are paused, so that the record of a paused sandbox
/// and the files of that pause belong together. Changes continue from there; the records of that view are copied, then
/// the files, however long that takes.
public final class Backups {
    private static final Logger log = LoggerFactory.getLogger(Backups.class);

    private static final int LOOKS = 4;

    private final Access access;
    private final Store store;
    private final SandboxRecords records;
    private final RunningSandboxes running;
    private final NodeBackup node;
    private final Supplier<Set<String>> house;
    private final ScratchStore scratch;
    private final InstantSource clock;
    private final Semaphore one = new Semaphore(1);

    /// @param house names of templates that come with Cay
    public Backups(
            Access access,
            Store store,
            SandboxRecords records,
            RunningSandboxes running,
            NodeBackup node,
            Supplier<Set<String>> house,
            ScratchStore scratch,
            InstantSource clock) {
        this.access = access;
        this.store = store;
        this.records = records;
        this.running = running;
        this.node = node;
        this.house = house;
        this.scratch = scratch;
        this.clock = clock;
    }

    public void addTo(Routes routes) {
        routes.on("POST", "/admin/backups", access.guardAdmin(this::send));
    }

    private void send(Exchange exchange) throws IOException {
        var body = RequestBody.of(exchange);
        boolean withRunning = Boolean.TRUE.equals(body.bool("running"));
        String settings = body.text("settings");
        if (!one.tryAcquire()) {
            throw new CayException(ErrorKind.CONFLICT, "a backup is under way; try again when it has ended");
        }
        try {
            write(exchange, withRunning, settings);
        } finally {
            one.release();
        }
    }

    private void write(Exchange exchange, boolean withRunning, @Nullable String settings) throws IOException {
        long began = System.nanoTime();
        try (var hold = node.hold();
                var saved = withRunning ? running.save() : running.none();
                var copy = scratch.open()) {
            BackupScope scope;
            try (var view = look(hold)) {
                scope = BackupScope.of(view, house.get(), saved.snapshots(), clock.instant());
                copy.fill(view);
            }
            var contents = hold.contents(scope.wanted());
            try (var out = exchange.with("Content-Type", "application/octet-stream").stream(200)) {
                write(out, scope, contents, copy, settings);
            }
        }
        log.atInfo()
                .addKeyValue("MB", exchange.bytesWritten() >> 20)
                .addKeyValue("ms", (System.nanoTime() - began) / 1_000_000)
                .log("sent a backup");
    }

    /// Sandboxes that are paused while the others are saved are not saved yet, so this looks again. After some tries
    /// those that are left out cannot be saved.
    private StoreView look(NodeBackup.Hold hold) {
        for (int tries = 1; ; tries++) {
            hold.saveFrozen();
            var view = lookOnce(hold, tries == LOOKS);
            if (view.isPresent()) {
                return view.get();
            }
        }
    }

    /// @param last whether to accept that some are not saved yet
    private Optional<StoreView> lookOnce(NodeBackup.Hold hold, boolean last) {
        return records.whileStill(() -> {
            var view = store.view();
            try {
                if (hold.look() || last) {
                    return Optional.of(view);
                }
                view.close();
                return Optional.empty();
            } catch (RuntimeException e) {
                view.close();
                throw e;
            }
        });
    }

    private void write(
            OutputStream out,
            BackupScope scope,
            NodeBackup.Contents contents,
            ScratchStore.Copy copy,
            @Nullable String settings)
            throws IOException {
        var writer = new BackupWriter(out);
        writer.file(
                Manifest.NAME,
                Json.write(new Manifest(
                        CayVersion.text(),
                        scope.at(),
                        store.isShared() ? "postgresql" : "sqlite",
                        contents.machine() == null ? null : Json.mapper().valueToTree(contents.machine()),
                        contents.gateway(),
                        contents.sandboxes(),
                        Math.max(0, scope.wanted().sandboxes().size() - contents.sandboxes()),
                        contents.snapshots(),
                        contents.missing())));
        writer.part(new PartHead("store", NodeBackup.Kind.FILE), to -> Files.copy(copy.file(), to));
        if (settings != null) {
            writer.file("settings", settings.getBytes(StandardCharsets.UTF_8));
        }
        for (var part : contents.parts()) {
            writer.part(new PartHead(part.name(), part.kind()), part::writeTo);
        }
        writer.end();
    }
}
