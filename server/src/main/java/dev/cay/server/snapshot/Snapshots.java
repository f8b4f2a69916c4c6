package dev.cay.server.snapshot;

import dev.cay.server.access.Caller;
import dev.cay.server.access.Team;
import dev.cay.server.fleet.Fleet;
import dev.cay.server.sandbox.ConcurrencyLimit;
import dev.cay.server.sandbox.DiskShares;
import dev.cay.server.sandbox.SandboxRecord;
import dev.cay.server.sandbox.SandboxRecords;
import dev.cay.server.store.Store;
import dev.cay.server.template.BuildTag;
import dev.cay.server.template.Origin;
import dev.cay.server.template.StartPoint;
import dev.cay.server.template.TemplateBuild;
import dev.cay.server.template.TemplateName;
import dev.cay.server.template.TemplateRecord;
import dev.cay.server.template.Templates;
import dev.cay.wire.BuildId;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.Keep;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Saves running sandboxes, permanently under the name of a template, or temporarily to make copies.
///
/// The node saves first and the record follows; a deletion removes the record first. So a crash always leaves a
/// snapshot without a record, which {@link #settle} deletes.
public final class Snapshots {
    private static final Logger log = LoggerFactory.getLogger(Snapshots.class);
    private static final String CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
    private static final int NAME_LENGTH = 20;

    private final Store store;
    private final Templates templates;
    private final SandboxRecords records;
    private final Fleet fleet;
    private final ConcurrencyLimit turns;
    private final DiskShares shares;
    private final SecureRandom random;

    public Snapshots(
            Store store,
            Templates templates,
            SandboxRecords records,
            Fleet fleet,
            ConcurrencyLimit turns,
            DiskShares shares,
            SecureRandom random) {
        this.store = store;
        this.templates = templates;
        this.records = records;
        this.fleet = fleet;
        this.turns = turns;
        this.shares = shares;
        this.random = random;
    }

    /// One build of a template, as lists show it.
    record Taken(TemplateRecord template, TemplateBuild build) {
        List<String> tags() {
            return template.tagsOf(build);
        }
    }

    /// Saves a running sandbox under a name, in place of what that stood for.
    ///
    /// @param text null for a snapshot that is known by its id only
    Taken take(Caller caller, SandboxRecord sandbox, @Nullable String text, Keep keep) {
        var team = caller.team();
        var name = text == null ? null : requireName(team, text);
        String saved = randomName();
        var build = TemplateBuild.saved(
                new BuildId(UUID.randomUUID().toString()),
                sandbox.resources(),
                origin(sandbox),
                saved,
                sandbox.id().value(),
                sandbox.volumes(),
                caller.keyFamily(),
                templates.now());
        var replaced = new ArrayList<TemplateBuild>();
        // With its record: before that it counts for nobody.
        var template = shares.take(caller, () -> {
            save(sandbox, saved, keep);
            try {
                return records.noteSaved(sandbox, event -> keep(team, name, build, replaced, event));
            } catch (RuntimeException e) {
                discard(saved);
                throw e;
            }
        });
        replaced.forEach(this::discard);
        log.atInfo()
                .addKeyValue("sandbox", sandbox.id())
                .addKeyValue("template", template.id())
                .log("snapshot taken");
        return new Taken(template, build);
    }

    /// Checks the name of a snapshot: a new name, or that of one of the team's snapshots.
    private TemplateName requireName(Team team, String text) {
        var name = TemplateName.parse(text);
        templates.requireOwnNamespace(team, name, text);
        boolean taken = templates
                .find(team, name.alias())
                .filter(other -> !other.isSnapshot() || !other.names().contains(name.in(team)))
                .isPresent();
        if (taken) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "'%s' is the name of a template; give the snapshot another one".formatted(name.alias()));
        }
        return name;
    }

    /// Makes a template of a build, or gives it to the one of that name, in place of what had its tag.
    private TemplateRecord keep(
            Team team,
            @Nullable TemplateName name,
            TemplateBuild build,
            List<TemplateBuild> replaced,
            Consumer<Handle> along) {
        var tag = List.of(name == null ? BuildTag.DEFAULT : name.tagOrDefault());
        var at = build.createdAt();
        var old = name == null ? Optional.<TemplateRecord>empty() : templates.findOwn(team, name);
        if (old.isEmpty()) {
            String full = name == null ? null : name.in(team);
            return templates.add(team, full, false, fresh -> fresh.with(build).tagged(tag, build.id(), at), along);
        }
        return templates.change(
                old.get().id(),
                template -> {
                    if (!template.isSnapshot()) {
                        throw new CayException(
                                ErrorKind.CONFLICT, "'%s' is the name of a template".formatted(template.names()));
                    }
                    var fresh = template.with(build).tagged(tag, build.id(), at);
                    replaced.clear();
                    replaced.addAll(fresh.untagged());
                    return fresh.without(
                            replaced.stream().map(TemplateBuild::id).toList());
                },
                along);
    }

    /// Saves a running sandbox with its memory, for copies. The caller discards the snapshot.
    StartPoint takeForCopies(Caller caller, SandboxRecord sandbox) {
        var origin = origin(sandbox);
        String name = randomName();
        shares.requireRoom(caller.team().id(), caller.keyFamily());
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
                sandbox.templateId(),
                sandbox.buildId(),
                sandbox.alias(),
                sandbox.resources(),
                origin,
                name,
                null,
                sandbox.volumes());
    }

    /// Sandboxes made from it stay, as each has a copy of its own.
    public void delete(TemplateRecord template) {
        templates.delete(template);
        template.builds().forEach(this::discard);
    }

    private void discard(TemplateBuild build) {
        String name = build.snapshot();
        if (name != null) {
            discardUnclaimed(name);
        }
    }

    /// Deletes a snapshot unless a build needs it: identical builds share one.
    public void discardUnclaimed(String name) {
        if (!claimed().contains(name)) {
            discard(name);
        }
    }

    /// Deletes a snapshot. One that cannot be deleted now is deleted at the next start, because no record names it.
    void discard(String name) {
        try {
            fleet.node().deleteSnapshot(name);
        } catch (RuntimeException e) {
            log.atWarn().setCause(e).addKeyValue("snapshot", name).log("could not delete a snapshot yet");
        }
    }

    /// Compares records and node at start.
    public void settle() {
        var onNode = fleet.node().snapshots();
        for (var template : templates.all()) {
            forgetLost(template, onNode);
        }
        var claimed = claimed();
        onNode.stream().filter(name -> !claimed.contains(name)).forEach(name -> {
            log.atInfo().addKeyValue("snapshot", name).log("deleting a snapshot that has no record");
            discard(name);
        });
    }

    /// The node's names of all snapshots that some build needs.
    private Set<String> claimed() {
        return templates.all().stream()
                .flatMap(template -> template.builds().stream())
                .map(TemplateBuild::snapshot)
                .filter(Objects::nonNull)
                .collect(Collectors.toSet());
    }

    /// Removes builds whose snapshot the node does not have, and a template that has no other build. A template that
    /// was built from steps starts cold instead.
    private void forgetLost(TemplateRecord template, Set<String> there) {
        var lost = template.builds().stream()
                .filter(build -> build.snapshot() != null && !there.contains(build.snapshot()))
                .toList();
        if (lost.isEmpty()) {
            return;
        }
        lost.forEach(build -> log.atWarn()
                .addKeyValue("snapshot", build.snapshot())
                .addKeyValue("template", template.id())
                .log("a snapshot is gone"));
        var gone = lost.stream()
                .filter(TemplateBuild::isSnapshot)
                .map(TemplateBuild::id)
                .toList();
        if (gone.size() == template.builds().size()) {
            templates.delete(template);
            return;
        }
        templates.change(template.id(), old -> {
            var fresh = old.without(gone);
            for (var build : lost) {
                fresh = fresh.with(build.id(), TemplateBuild::withoutSnapshot);
            }
            return fresh;
        });
    }

    private void save(SandboxRecord sandbox, String name, Keep keep) {
        try (var _ = turns.take(sandbox.teamId())) {
            fleet.node().snapshot(sandbox.id(), name, keep);
        } catch (RuntimeException e) {
            // The snapshot may exist even though the answer was lost.
            discard(name);
            throw e;
        }
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
