package dev.cay.server.template;

import dev.cay.server.access.Team;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.Node;
import dev.cay.wire.node.NodeTemplate;
import dev.cay.wire.node.NodeTemplates;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.SandboxKind;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Provides the templates that come with Cay: they are on record from the first start on, and the node builds them in
/// the background or on demand.
///
/// Until a template is ready, a create gets an error with the progress. A newer Cay uses the previous version's build
/// until its own is ready.
public final class TemplateSupply {
    /// How long a request waits for a template that is about to be ready.
    private static final Duration MOMENT = Duration.ofSeconds(2);

    private static final Duration STORE_PAUSE = Duration.ofSeconds(5);

    private final Templates templates;
    private final Node node;
    private final NodeTemplates made;
    private final Object news = new Object();

    /// Templates of which sandboxes may be started in advance.
    private final Set<String> wanted = ConcurrentHashMap.newKeySet();

    public TemplateSupply(Templates templates, Node node, NodeTemplates made) {
        this.templates = templates;
        this.node = node;
        this.made = made;
    }

    /// Names of all that come with Cay.
    public Set<String> names() {
        return Stream.concat(Stream.of("base"), made.list().stream().map(NodeTemplate::name))
                .collect(Collectors.toSet());
    }

    /// The records of all that come with Cay, by name.
    public List<TemplateRecord> records() {
        return names().stream()
                .sorted()
                .flatMap(name -> templates.findPublic(name).stream())
                .toList();
    }

    /// Puts all on record and has some built.
    ///
    /// @param resources default resources of their sandboxes
    /// @param prepare   names of those to be built now
    /// @param there     names of those whose layers exist, so that they are ready soon
    public void start(Resources resources, List<String> prepare, List<String> there) {
        made.onReady(ready -> readyWhenPossible(ready, resources));
        for (var template : made.list()) {
            boolean usable = templates
                    .findPublic(template.name())
                    .flatMap(TemplateRecord::current)
                    .filter(TemplateBuild::isReady)
                    .filter(build -> made.holds(build.origin().layers()))
                    .isPresent();
            if (!usable) {
                register(template, resources);
            }
        }
        for (String name : prepare) {
            wanted.add(name);
            made.prepare(name);
        }
        there.forEach(made::prepare);
    }

    /// A database that is away is waited for.
    private void readyWhenPossible(NodeTemplate ready, Resources resources) {
        try {
            ready(ready, resources);
        } catch (CayException e) {
            if (e.kind() != ErrorKind.UNAVAILABLE) {
                throw e;
            }
            Thread.ofVirtual().name("template-ready").start(() -> {
                try {
                    TimeUnit.NANOSECONDS.sleep(STORE_PAUSE.toNanos());
                    readyWhenPossible(ready, resources);
                } catch (InterruptedException interrupt) {
                    Thread.currentThread().interrupt();
                }
            });
        }
    }

    private void ready(NodeTemplate ready, Resources resources) {
        var record = register(ready, resources);
        synchronized (news) {
            news.notifyAll();
        }
        if (wanted.contains(ready.name())) {
            node.expect(kind(record));
        }
    }

    private TemplateRecord register(NodeTemplate template, Resources usual) {
        return templates.register(
                template.name(),
                usual.withMemoryOfAtLeast(template.memoryMB()),
                new Origin(template.layers(), Origin.USER, null),
                template.start());
    }

    /// The start point of a name. A template that is not built yet is refused, and its build is started.
    public StartPoint requireStart(Team team, String text) {
        var start = templates.requireStart(team, text);
        var house = of(start);
        if (house.isEmpty()) {
            return start;
        }
        String name = house.get().name();
        if (start.origin().layers().isEmpty()) {
            wanted.add(name);
            var asked = made.prepare(name);
            if (!comes(name)) {
                // The build may have failed during the wait.
                throw notYet(name, state(name).orElse(asked));
            }
            return templates.requireStart(team, text);
        }
        if (wanted.add(name)) {
            node.expect(new SandboxKind(start.templateId(), start.origin().layers(), start.resources()));
        }
        return start;
    }

    /// Waits briefly for a template whose layers another process had already made.
    private boolean comes(String name) {
        long end = System.nanoTime() + MOMENT.toNanos();
        synchronized (news) {
            while (!isReady(name)) {
                long left = (end - System.nanoTime()) / 1_000_000;
                if (left <= 0) {
                    return false;
                }
                try {
                    news.wait(left);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return false;
                }
            }
            return true;
        }
    }

    private boolean isReady(String name) {
        return templates
                .findPublic(name)
                .flatMap(TemplateRecord::current)
                .filter(TemplateBuild::isReady)
                .isPresent();
    }

    private Optional<NodeTemplate> state(String name) {
        return made.list().stream().filter(house -> house.name().equals(name)).findFirst();
    }

    private static CayException notYet(String name, NodeTemplate state) {
        return new CayException(
                ErrorKind.UNAVAILABLE,
                switch (state.state()) {
                    case BUILDING ->
                        "template '%s' is being made on this machine, which takes some minutes once (%s); try again when it is ready"
                                .formatted(name, state.news());
                    case FAILED, ABSENT -> "template '%s' could not be made: %s".formatted(name, state.news());
                    case READY -> "template '%s' has just been made; try again".formatted(name);
                });
    }

    /// The state of one of its builds, as clients name it. A build that waits is not ready while the node has made
    /// the template but its layers are not on record: until then a create is refused.
    public String status(TemplateRecord template, TemplateBuild build) {
        return made.list().stream()
                .filter(_ -> build.status() == BuildStatus.WAITING)
                .filter(house -> template.names().contains(house.name()))
                .findFirst()
                .map(house -> switch (house.state()) {
                    case ABSENT -> "waiting";
                    case BUILDING, READY -> "building";
                    case FAILED -> "error";
                })
                .orElse(build.status().text());
    }

    private Optional<NodeTemplate> of(StartPoint start) {
        String alias = start.alias();
        return start.snapshot() != null || alias == null
                ? Optional.empty()
                : made.list().stream()
                        .filter(house -> house.name().equals(alias))
                        .filter(house -> templates
                                .findPublic(alias)
                                .filter(record -> record.id().equals(start.templateId()))
                                .isPresent())
                        .findFirst();
    }

    private static SandboxKind kind(TemplateRecord record) {
        var build = record.current().orElseThrow();
        return new SandboxKind(record.id(), build.origin().layers(), build.resources());
    }
}
