package dev.cay.server.template;

import dev.cay.server.access.Team;
import dev.cay.server.access.Teams;
import dev.cay.server.store.Store;
import dev.cay.wire.BuildId;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.StartCommand;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// All templates, by id and by name, also snapshots. They are read at every create, so all are in memory as well.
///
/// {@link #add}, {@link #change} and {@link #delete} are the only ways to change one: the store changes first, then
/// memory.
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

    /// The current time, in the store's precision.
    public Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.MILLIS);
    }

    /// Records a new template.
    ///
    /// @param name  with its namespace; bare where every team may use it; null for none
    /// @param along written in the same transaction
    public synchronized TemplateRecord add(
            Team team,
            @Nullable String name,
            boolean isPublic,
            UnaryOperator<TemplateRecord> content,
            Consumer<Handle> along) {
        if (name != null && byName(name).isPresent()) {
            throw new CayException(ErrorKind.CONFLICT, "there is a template '%s' already".formatted(name));
        }
        var names = name == null ? List.<String>of() : List.of(name);
        var fresh = content.apply(TemplateRecord.empty(randomId(), team.id(), names, isPublic, now()));
        return write(null, fresh, handle -> {
            Teams.requireThere(handle, team.id());
            along.accept(handle);
        });
    }

    /// Changes a template.
    public synchronized TemplateRecord change(TemplateId id, UnaryOperator<TemplateRecord> change) {
        return change(id, change, _ -> {});
    }

    /// Changes a template, with another write in the same transaction.
    public synchronized TemplateRecord change(
            TemplateId id, UnaryOperator<TemplateRecord> change, Consumer<Handle> along) {
        var old = templates.get(id);
        if (old == null) {
            throw new CayException(ErrorKind.NOT_FOUND, "template '%s' was deleted".formatted(id));
        }
        return write(old, change.apply(old), along);
    }

    private TemplateRecord write(@Nullable TemplateRecord old, TemplateRecord fresh, Consumer<Handle> along) {
        store.write(handle -> {
            TemplateStore.write(handle, old, fresh);
            along.accept(handle);
            return fresh;
        });
        return put(fresh);
    }

    public synchronized void delete(TemplateRecord template) {
        store.write(handle -> TemplateStore.delete(handle, template.id()));
        templates.remove(template.id());
        template.names().forEach(idsByName::remove);
    }

    /// Records a template that every team may use by its bare name, or gives an existing one new content. The id of a
    /// name never changes; a new build is recorded only for changed content, and replaces the old one.
    ///
    /// @param origin without layers while it is not built
    /// @param start  the start command of its sandboxes; null for none
    public synchronized TemplateRecord register(
            String alias, Resources resources, Origin origin, @Nullable StartCommand start) {
        String name = TemplateName.parse(alias).alias();
        var old = byName(name).orElse(null);
        var build = TemplateBuild.made(
                new BuildId(UUID.randomUUID().toString()),
                origin.layers().isEmpty() ? BuildStatus.WAITING : BuildStatus.READY,
                resources,
                origin,
                start,
                now());
        if (old == null) {
            return add(owner.get(), name, true, fresh -> registered(fresh, build), _ -> {});
        }
        boolean same = old.current()
                .filter(before -> before.resources().equals(resources))
                .filter(before -> before.origin().equals(origin))
                .filter(before -> Objects.equals(before.start(), start))
                .isPresent();
        return same && old.isPublic() ? old : change(old.id(), template -> registered(template, build));
    }

    private static TemplateRecord registered(TemplateRecord template, TemplateBuild build) {
        var before = template.builds().stream().map(TemplateBuild::id).toList();
        return template.published(true, build.createdAt())
                .without(before)
                .with(build)
                .tagged(List.of(BuildTag.DEFAULT), build.id(), build.createdAt());
    }

    /// The template that a team means by a name, and may use.
    public TemplateRecord require(Team team, String text) {
        var template = requireUntagged(team, text);
        String tag = TemplateName.parse(text).tag();
        if (tag != null && template.tagged(tag).isEmpty()) {
            throw noTag(text);
        }
        return template;
    }

    /// The start point that a name means.
    public StartPoint requireStart(Team team, String text) {
        var template = require(team, text);
        String alias = template.aliases().isEmpty() ? null : template.aliases().getFirst();
        var build = template.tagged(TemplateName.parse(text).tag()).orElseThrow(() -> notBuilt(template, text));
        return new StartPoint(
                template.id(),
                build.id(),
                alias,
                build.resources(),
                build.origin(),
                build.snapshot(),
                build.start(),
                build.isSnapshot() ? build.volumes() : null);
    }

    private static CayException notBuilt(TemplateRecord template, String text) {
        var newest = template.builds().isEmpty() ? null : template.builds().getLast();
        if (newest == null || newest.isReady()) {
            return noTag(text);
        }
        var failure = newest.failure();
        return new CayException(
                ErrorKind.NOT_FOUND,
                failure == null
                        ? "template '%s' has no finished build yet; wait for it and try again".formatted(text)
                        : "template '%s' has no finished build; its last one failed: %s"
                                .formatted(text, failure.message()));
    }

    private static CayException noTag(String text) {
        return new CayException(ErrorKind.NOT_FOUND, "template '%s' has no such tag".formatted(text));
    }

    /// The same, whatever tag the name has.
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

    /// The same, and the team must own it, because it is about to be changed.
    public TemplateRecord requireOwn(Team team, String text) {
        var template = requireUntagged(team, text);
        if (!template.teamId().equals(team.id())) {
            throw new CayException(
                    ErrorKind.PERMISSION_DENIED, "template '%s' belongs to another team".formatted(text));
        }
        return template;
    }

    /// The team's own template of a name, whatever tag that has.
    public Optional<TemplateId> own(Team team, String text) {
        return find(team, TemplateName.parse(text))
                .filter(template -> template.teamId().equals(team.id()))
                .map(TemplateRecord::id);
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

    /// The template that every team may use by this bare name.
    Optional<TemplateRecord> findPublic(String name) {
        return byName(name).filter(TemplateRecord::isPublic);
    }

    public Optional<TemplateRecord> find(TemplateId id) {
        return Optional.ofNullable(templates.get(id));
    }

    /// The team's own template of a name in its namespace.
    public Optional<TemplateRecord> findOwn(Team team, TemplateName name) {
        return byName(name.in(team));
    }

    /// The origin of sandboxes of this build, as long as its template has it.
    public Optional<Origin> originOf(TemplateId templateId, BuildId buildId) {
        return find(templateId).flatMap(template -> template.build(buildId)).map(TemplateBuild::origin);
    }

    /// The team's own templates, newest first, without snapshots.
    public List<TemplateRecord> list(Team team) {
        return owned(team)
                .filter(template -> !template.isSnapshot())
                .sorted(Comparator.comparing(TemplateRecord::createdAt)
                        .reversed()
                        .thenComparing(template -> template.id().value()))
                .toList();
    }

    /// The team's snapshots.
    public List<TemplateRecord> snapshots(Team team) {
        return owned(team).filter(TemplateRecord::isSnapshot).toList();
    }

    /// The templates of all teams.
    public List<TemplateRecord> all() {
        return List.copyOf(templates.values());
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

    /// Refuses a name that the team may not give to something of its own.
    public void requireOwnNamespace(Team team, TemplateName name, String text) {
        if (name.namespace() != null && !name.namespace().equals(team.slug())) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "the namespace of '%s' is not yours; call it '%s'".formatted(text, name.in(team)));
        }
    }

    private Stream<TemplateRecord> owned(Team team) {
        return templates.values().stream().filter(template -> template.teamId().equals(team.id()));
    }

    private TemplateRecord put(TemplateRecord template) {
        // Sandboxes may have been started meanwhile, which only memory counts.
        var now = templates.merge(template.id(), template, (old, fresh) -> fresh.spawnedLike(old));
        template.names().forEach(name -> idsByName.put(name, template.id()));
        return Objects.requireNonNull(now);
    }

    private Optional<TemplateRecord> find(Team team, TemplateName name) {
        String namespace = name.namespace();
        if (namespace != null) {
            return byName(namespace + "/" + name.alias());
        }
        return byName(name.in(team))
                .or(() -> find(new TemplateId(name.alias())))
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
