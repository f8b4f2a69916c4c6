package dev.cay.node.snapshot;

import dev.cay.http.Json;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/// Keeps the files of all snapshots while a backup reads them: those that exist when it begins, and those made
/// meanwhile, until it is closed.
public final class SnapshotHold implements AutoCloseable {
    private final HeldSnapshots held;
    private final Path places;
    private boolean closed;

    SnapshotHold(HeldSnapshots held, Path places) {
        this.held = held;
        this.places = places;
        held.begin();
    }

    /// A snapshot, also one that was deleted since the hold began; empty if it was deleted before, or is damaged.
    public Optional<Snapshot> find(String name) {
        Path place = places.resolve(name);
        return read(name, place, "about.json").or(() -> read(name, place, HeldSnapshots.GONE));
    }

    private static Optional<Snapshot> read(String name, Path place, String file) {
        try {
            return Optional.ofNullable(Json.read(Files.readAllBytes(place.resolve(file)), Snapshot.About.class))
                    .filter(_ -> Files.exists(Snapshot.disk(place)))
                    .map(about -> new Snapshot(name, place, about));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "cannot read snapshot %s".formatted(name), e);
        } catch (CayException e) {
            return Optional.empty();
        }
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            held.end();
        }
    }
}
