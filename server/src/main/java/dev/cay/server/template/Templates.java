package dev.cay.server.template;

import dev.cay.server.access.Team;
import dev.cay.server.store.Store;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.Resources;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// All templates, by id and by name. They are few and read at every create, so all are in memory as well.
public final class Templates {
    private static final String ID_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

    private final Store store;
    private final InstantSource clock;
    private final SecureRandom random;
    private final Supplier<Team> owner;
    private final Map<String, TemplateRecord> templates = new ConcurrentHashMap<>();

    /// @param owner the team that owns what {@link #register} makes
    public Templates(Store store, InstantSource clock, SecureRandom random, Supplier<Team> owner) {
        this.store = store;
        this.clock = clock;
        this.random = random;
        this.owner = owner;
    }

    public void start() {
        store.read(TemplateStore::all).forEach(template -> templates.put(template.id(), template));
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
                UUID.randomUUID().toString(),
                old == null ? now : old.createdAt(),
                now,
                old == null ? null : old.lastSpawnedAt(),
                old == null ? 0 : old.spawnCount(),
                old == null ? 1 : old.buildCount() + 1);
        if (old != null && old.sameContent(fresh)) {
            return old;
        }
        store.write(handle -> {
            TemplateStore.upsert(handle, fresh);
            TemplateStore.insertAlias(handle, "", name, fresh.id());
            return fresh;
        });
        templates.put(fresh.id(), fresh);
        return fresh;
    }

    /// What a team means by a name, which it may use.
    public TemplateRecord require(Team team, String text) {
        var name = TemplateName.parse(text);
        var template = find(team, name)
                .orElseThrow(() -> new CayException(
                        ErrorKind.NOT_FOUND,
                        "template '%s' not found; GET /templates lists what there is".formatted(text)));
        if (name.tag() != null) {
            throw new CayException(ErrorKind.NOT_FOUND, "template '%s' has no such tag".formatted(text));
        }
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

    /// The team's own templates, newest first.
    public List<TemplateRecord> list(Team team) {
        return templates.values().stream()
                .filter(template -> template.teamId().equals(team.id()))
                .sorted(Comparator.comparing(TemplateRecord::createdAt)
                        .reversed()
                        .thenComparing(TemplateRecord::id))
                .toList();
    }

    /// To be called in the transaction that starts a sandbox from the template.
    public void countSpawn(Handle handle, String templateId, Instant at) {
        TemplateStore.countSpawn(handle, templateId, at);
    }

    /// To be called after that transaction.
    public void spawned(String templateId, Instant at) {
        templates.computeIfPresent(templateId, (id, template) -> template.spawned(at));
    }

    private Optional<TemplateRecord> find(Team team, TemplateName name) {
        String namespace = name.namespace();
        if (namespace != null) {
            return byName(namespace + "/" + name.alias());
        }
        return byName(team.slug() + "/" + name.alias())
                .or(() -> Optional.ofNullable(templates.get(name.alias())))
                .or(() -> byName(name.alias()));
    }

    private Optional<TemplateRecord> byName(String full) {
        return templates.values().stream()
                .filter(template -> template.names().contains(full))
                .findFirst();
    }

    private String randomId() {
        var id = new StringBuilder(20);
        for (int i = 0; i < 20; i++) {
            id.append(ID_CHARACTERS.charAt(random.nextInt(ID_CHARACTERS.length())));
        }
        return id.toString();
    }
}
