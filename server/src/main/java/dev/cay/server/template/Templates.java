package dev.cay.server.template;

import dev.cay.server.access.Team;
import dev.cay.server.store.Store;
import dev.cay.wire.BuildId;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Resources;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// All templates, by id and by name, also those that were saved from a sandbox. They are read at every create, so all
/// are in memory as well.
public final class Templates {
    private static final String ID_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

    private final Store store;
    private final InstantSource clock;
    private final SecureRandom random;
    private final Supplier<Team> owner;
    private final Map<TemplateId, TemplateRecord> templates = new ConcurrentHashMap<>();
    private final Map<String, TemplateId> idsByName = new ConcurrentHashMap<>();
    private final SpawnCounts spawns;

    /// @param owner the team that owns what {@link #register} makes
    public Templates(Store store, InstantSource clock, SecureRandom random, Supplier<Team> owner) {
        this.store = store;
        this.clock = clock;
        this.random = random;
        this.owner = owner;
        this.spawns = new SpawnCounts(store);
    }

    public void start() {
        store.read(TemplateStore::all).forEach(this::put);
    }

    /// Makes a template that everybody may use by its bare name, or gives an existing one new content. The id of a
    /// name never changes; a new build id is given only when the content did.
    public synchronized TemplateRecord register(
            String alias,
            List<String> layers,
            Resources resources,
            String defaultUser,
            @Nullable String defaultWorkdir) {
        String name = TemplateName.parse(alias).alias();
        TemplateRecord old = byName(name).orElse(null);
        Instant now = clock.instant().truncatedTo(ChronoUnit.MILLIS);
        var fresh = new TemplateRecord(
                old == null ? randomId() : old.id(),
                owner.get().id(),
                old == null ? List.of(name) : old.aliases(),
                old == null ? List.of(name) : old.names(),
                true,
                resources,
                layers,
                defaultUser,
                defaultWorkdir,
                new BuildId(UUID.randomUUID().toString()),
                old == null ? now : old.createdAt(),
                now,
                old == null ? null : old.lastSpawnedAt(),
                old == null ? 0 : old.spawnCount(),
                old == null ? 1 : old.buildCount() + 1,
                List.of());
        if (old != null && old.sameContent(fresh)) {
            return old;
        }
        store.write(handle -> {
            TemplateStore.upsert(handle, fresh);
            TemplateStore.insertAlias(handle, "", name, fresh.id());
            return fresh;
        });
        put(fresh);
        return fresh;
    }

    /// What a team means by a name, which it may use.
    public TemplateRecord require(Team team, String text) {
        var template = requireUntagged(team, text);
        String tag = TemplateName.parse(text).tag();
        if (tag != null && template.snapshot(tag).isEmpty()) {
            throw new CayException(ErrorKind.NOT_FOUND, "template '%s' has no such tag".formatted(text));
        }
        return template;
    }

    /// What a sandbox starts from that is made with this name.
    public StartPoint requireStart(Team team, String text) {
        var template = require(team, text);
        String alias = template.aliases().isEmpty() ? null : template.aliases().getFirst();
        var build = template.snapshot(TemplateName.parse(text).tag());
        if (build.isEmpty()) {
            return new StartPoint(
                    template.id(), template.buildId(), alias, template.resources(), template.origin(), null);
        }
        var saved = build.get();
        return new StartPoint(template.id(), saved.buildId(), alias, saved.resources(), saved.origin(), saved.name());
    }

    /// The same whatever tag the name has.
    public TemplateRecord requireUntagged(Team team, String text) {
        var template = find(team, TemplateName.parse(text))
                .orElseThrow(() -> new CayException(
                        ErrorKind.NOT_FOUND,
                        "template '%s' not found; GET /templates lists what there is".formatted(text)));
        if (!template.isPublic() && !template.teamId().equals(team.id())) {
            throw new CayException(
                    ErrorKind.PERMISSION_DENIED, "template '%s' belongs to another team".formatted(text));
        }
        return template;
    }

    /// What a name without a tag stands for in a filter; nothing when nobody has it.
    public Optional<TemplateRecord> find(Team team, String text) {
        var name = TemplateName.parse(text);
        if (text.indexOf(':') >= 0) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "the template filter '%s' may not have a tag".formatted(text));
        }
        return find(team, name);
    }

    /// The one that everybody may use by this bare name.
    Optional<TemplateRecord> findPublic(String name) {
        return byName(name).filter(TemplateRecord::isPublic);
    }

    /// What sandboxes of this build were made of, as long as it is its template's newest.
    public Optional<Origin> originOf(TemplateId templateId, BuildId buildId) {
        return Optional.ofNullable(templates.get(templateId))
                .filter(template -> template.buildId().equals(buildId))
                .map(TemplateRecord::origin);
    }

    /// The team's own templates, newest first, without those that were saved from sandboxes.
    public List<TemplateRecord> list(Team team) {
        return owned(team)
                .filter(template -> !template.isSnapshot())
                .sorted(Comparator.comparing(TemplateRecord::createdAt)
                        .reversed()
                        .thenComparing(template -> template.id().value()))
                .toList();
    }

    /// A sandbox was started from the template.
    public void spawned(TemplateId templateId, Instant at) {
        templates.computeIfPresent(templateId, (id, template) -> template.spawned(at));
        spawns.count(templateId, at);
    }

    /// Writes how often templates were used since the last time.
    public void writeSpawns() {
        spawns.write();
    }

    /// Those that were saved from sandboxes.
    public List<TemplateRecord> snapshots(Team team) {
        return owned(team).filter(TemplateRecord::isSnapshot).toList();
    }

    /// Node's names of everything that was saved.
    public Set<String> snapshotNames() {
        return templates.values().stream()
                .flatMap(template -> template.snapshots().stream())
                .map(SnapshotBuild::name)
                .collect(Collectors.toSet());
    }

    /// What the team may call a snapshot: a new name, or that of one of its snapshots.
    public TemplateName snapshotName(Team team, String text) {
        var name = TemplateName.parse(text);
        if (name.namespace() != null && !name.namespace().equals(team.slug())) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "the namespace of '%s' is not yours; call it '%s/%s'".formatted(text, team.slug(), name.alias()));
        }
        boolean taken = find(team, new TemplateName(null, name.alias(), null))
                .filter(other -> !other.isSnapshot() || !other.names().contains(full(team, name)))
                .isPresent();
        if (taken) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "'%s' is the name of a template; give the snapshot another one".formatted(name.alias()));
        }
        return name;
    }

    /// What was saved, and what it took the place of.
    public record Kept(TemplateRecord template, @Nullable SnapshotBuild replaced) {}

    /// Makes a template of what was saved from a sandbox, or gives the one of that name a new build.
    ///
    /// @param name  null for one without
    /// @param along written in the same transaction
    public synchronized Kept addSnapshot(
            Team team, @Nullable TemplateName name, SnapshotBuild build, Consumer<Handle> along) {
        if (name != null) {
            snapshotName(team, full(team, name));
        }
        var old = name == null ? null : byName(full(team, name)).orElse(null);
        var builds = new ArrayList<>(old == null ? List.<SnapshotBuild>of() : old.snapshots());
        var replaced =
                builds.stream().filter(other -> other.tag().equals(build.tag())).findFirst();
        replaced.ifPresent(builds::remove);
        builds.add(build);
        var fresh = saved(team, name, old, builds);
        store.write(handle -> {
            TemplateStore.upsert(handle, fresh);
            if (name != null) {
                TemplateStore.insertAlias(handle, team.slug(), name.alias(), fresh.id());
            }
            TemplateStore.putSnapshot(handle, fresh.id(), build);
            along.accept(handle);
            return fresh;
        });
        put(fresh);
        return new Kept(fresh, replaced.orElse(null));
    }

    public synchronized void delete(TemplateRecord template) {
        store.write(handle -> TemplateStore.delete(handle, template.id()));
        templates.remove(template.id());
        template.names().forEach(idsByName::remove);
    }

    /// Lets go of builds that the node does not have, and of templates that have no other.
    ///
    /// @return the node's names of what was let go
    public synchronized List<String> forgetSnapshotsBut(Set<String> there) {
        var lost = new ArrayList<String>();
        for (var template : List.copyOf(templates.values())) {
            var left = template.snapshots().stream()
                    .filter(build -> there.contains(build.name()))
                    .toList();
            if (left.size() == template.snapshots().size()) {
                continue;
            }
            var gone = new ArrayList<>(template.snapshots());
            gone.removeAll(left);
            gone.forEach(build -> lost.add(build.name()));
            if (left.isEmpty()) {
                delete(template);
                continue;
            }
            var fresh = template.saved(left, template.updatedAt());
            store.write(handle -> {
                gone.forEach(build -> TemplateStore.deleteSnapshot(handle, build.name()));
                TemplateStore.upsert(handle, fresh);
                return fresh;
            });
            put(fresh);
        }
        return lost;
    }

    private TemplateRecord saved(
            Team team, @Nullable TemplateName name, @Nullable TemplateRecord old, List<SnapshotBuild> builds) {
        var newest = builds.getLast();
        if (old != null) {
            return old.saved(builds, newest.createdAt());
        }
        return new TemplateRecord(
                randomId(),
                team.id(),
                name == null ? List.of() : List.of(name.alias()),
                name == null ? List.of() : List.of(full(team, name)),
                false,
                newest.resources(),
                newest.origin().layers(),
                newest.origin().defaultUser(),
                newest.origin().defaultWorkdir(),
                newest.buildId(),
                newest.createdAt(),
                newest.createdAt(),
                null,
                0,
                1,
                builds);
    }

    private Stream<TemplateRecord> owned(Team team) {
        return templates.values().stream().filter(template -> template.teamId().equals(team.id()));
    }

    private static String full(Team team, TemplateName name) {
        return team.slug() + "/" + name.alias();
    }

    private void put(TemplateRecord template) {
        templates.put(template.id(), template);
        template.names().forEach(name -> idsByName.put(name, template.id()));
    }

    private Optional<TemplateRecord> find(Team team, TemplateName name) {
        String namespace = name.namespace();
        if (namespace != null) {
            return byName(namespace + "/" + name.alias());
        }
        return byName(team.slug() + "/" + name.alias())
                .or(() -> Optional.ofNullable(templates.get(new TemplateId(name.alias()))))
                .or(() -> byName(name.alias()));
    }

    private Optional<TemplateRecord> byName(String full) {
        return Optional.ofNullable(idsByName.get(full)).map(templates::get);
    }

    private TemplateId randomId() {
        var id = new StringBuilder(20);
        for (int i = 0; i < 20; i++) {
            id.append(ID_CHARACTERS.charAt(random.nextInt(ID_CHARACTERS.length())));
        }
        return new TemplateId(id.toString());
    }
}
