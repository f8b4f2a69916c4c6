package dev.cay.server.snapshot;

import dev.cay.server.access.Team;
import dev.cay.server.fleet.Fleet;
import dev.cay.server.sandbox.ConcurrencyLimit;
import dev.cay.server.sandbox.SandboxRecord;
import dev.cay.server.sandbox.SandboxRecords;
import dev.cay.server.store.Store;
import dev.cay.server.template.Origin;
import dev.cay.server.template.SnapshotBuild;
import dev.cay.server.template.StartPoint;
import dev.cay.server.template.TemplateName;
import dev.cay.server.template.TemplateRecord;
import dev.cay.server.template.Templates;
import dev.cay.wire.BuildId;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.Keep;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Saves running sandboxes, for good under the name of a template, or for a moment to make copies of.
///
/// The node saves first, the record comes after, and when something is deleted the record goes first: so what a crash
/// leaves is always a snapshot without a record, which {@link #settle} deletes.
public final class Snapshots {
    private static final Logger log = LoggerFactory.getLogger(Snapshots.class);
    private static final String CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
    private static final int NAME_LENGTH = 20;

    private final Store store;
    private final Templates templates;
    private final SandboxRecords records;
    private final Fleet fleet;
    private final ConcurrencyLimit turns;
    private final InstantSource clock;
    private final SecureRandom random;

    public Snapshots(
            Store store,
            Templates templates,
            SandboxRecords records,
            Fleet fleet,
            ConcurrencyLimit turns,
            InstantSource clock,
            SecureRandom random) {
        this.store = store;
        this.templates = templates;
        this.records = records;
        this.fleet = fleet;
        this.turns = turns;
        this.clock = clock;
        this.random = random;
    }

    /// One build of a template, as it can be listed.
    record Taken(TemplateRecord template, SnapshotBuild build) {}

    /// Saves a running sandbox under a name, in place of what that stood for.
    ///
    /// @param text null for a snapshot that is known by its id only
    Taken take(Team team, SandboxRecord sandbox, @Nullable String text, Keep keep) {
        var name = text == null ? null : templates.snapshotName(team, text);
        var build = build(sandbox, name);
        save(sandbox, build.name(), keep);
        Templates.Kept kept;
        try {
            kept = records.noteSaved(sandbox, event -> templates.addSnapshot(team, name, build, event));
        } catch (RuntimeException e) {
            discard(build.name());
            throw e;
        }
        Optional.ofNullable(kept.replaced()).map(SnapshotBuild::name).ifPresent(this::discard);
        log.atInfo()
                .addKeyValue("sandbox", sandbox.id())
                .addKeyValue("template", kept.template().id())
                .log("snapshot taken");
        return new Taken(kept.template(), build);
    }

    /// Saves a running sandbox with its memory for as long as it takes to copy it. Who got it discards it.
    StartPoint takeForCopies(SandboxRecord sandbox) {
        var origin = origin(sandbox);
        String name = randomName();
        save(sandbox, name, Keep.MEMORY);
        try {
            records.noteSaved(
                    sandbox,
                    event -> store.write(handle -> {
                        event.accept(handle);
                        return sandbox;
                    }));
        } catch (RuntimeException e) {
            discard(name);
            throw e;
        }
        return new StartPoint(
                sandbox.templateId(), sandbox.buildId(), sandbox.alias(), sandbox.resources(), origin, name);
    }

    /// Sandboxes made from it stay, as each has a copy of its own.
    void delete(TemplateRecord template) {
        templates.delete(template);
        template.snapshots().forEach(build -> discard(build.name()));
    }

    /// What cannot be deleted now is deleted at the next start, as no record claims it.
    void discard(String name) {
        try {
            fleet.node().deleteSnapshot(name);
        } catch (RuntimeException e) {
            log.atWarn().setCause(e).addKeyValue("snapshot", name).log("could not delete a snapshot yet");
        }
    }

    /// Brings together at start what is on record and what the node has.
    public void settle() {
        var onNode = fleet.node().snapshots();
        for (String lost : templates.forgetSnapshotsBut(onNode)) {
            log.atWarn().addKeyValue("snapshot", lost).log("a snapshot was gone");
        }
        var claimed = templates.snapshotNames();
        onNode.stream().filter(name -> !claimed.contains(name)).forEach(name -> {
            log.atInfo().addKeyValue("snapshot", name).log("deleting a snapshot that no record claims");
            discard(name);
        });
    }

    private void save(SandboxRecord sandbox, String name, Keep keep) {
        try (var _ = turns.take()) {
            fleet.node().snapshot(sandbox.id(), name, keep);
        } catch (RuntimeException e) {
            // It may have been made all the same, if only the answer was lost.
            discard(name);
            throw e;
        }
    }

    private SnapshotBuild build(SandboxRecord sandbox, @Nullable TemplateName name) {
        String tag = name == null ? null : name.tag();
        return new SnapshotBuild(
                randomName(),
                tag == null ? SnapshotBuild.DEFAULT_TAG : tag,
                new BuildId(UUID.randomUUID().toString()),
                sandbox.id().value(),
                sandbox.resources(),
                origin(sandbox),
                clock.instant().truncatedTo(ChronoUnit.MILLIS));
    }

    private Origin origin(SandboxRecord sandbox) {
        var known = sandbox.origin();
        if (known != null) {
            return known;
        }
        return templates
                .originOf(sandbox.templateId(), sandbox.buildId())
                .orElseThrow(() -> new CayException(
                        ErrorKind.CONFLICT,
                        "Sandbox %s was made by an older Cay, which did not note down from what; it cannot be copied"
                                .formatted(sandbox.id())));
    }

    private String randomName() {
        var name = new StringBuilder("s");
        while (name.length() < NAME_LENGTH) {
            name.append(CHARACTERS.charAt(random.nextInt(CHARACTERS.length())));
        }
        return name.toString();
    }
}
