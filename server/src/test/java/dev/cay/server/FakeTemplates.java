package dev.cay.server;

import dev.cay.wire.node.NodeTemplate;
import dev.cay.wire.node.NodeTemplates;
import dev.cay.wire.node.StartCommand;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Makes templates when a test says so.
final class FakeTemplates implements NodeTemplates {
    static final int MEMORY_MB = 2048;

    final List<String> asked = new ArrayList<>();
    private final Map<String, NodeTemplate> states = new LinkedHashMap<>();
    private final List<Consumer<NodeTemplate>> listeners = new ArrayList<>();

    /// What the templates that are put from now on have running; null for nothing.
    @Nullable
    StartCommand start;

    /// What happens right after somebody has asked.
    Runnable whenAsked = () -> {};

    void put(String name, NodeTemplate.State state, String news, String... layers) {
        var template = putSilently(name, state, news, layers);
        if (state == NodeTemplate.State.READY) {
            listeners.forEach(listener -> listener.accept(template));
        }
    }

    /// Changes the state of a template, of which the server is not told yet.
    synchronized NodeTemplate putSilently(String name, NodeTemplate.State state, String news, String... layers) {
        var template = new NodeTemplate(name, MEMORY_MB, start, state, List.of(layers), news);
        states.put(name, template);
        return template;
    }

    @Override
    public synchronized List<NodeTemplate> list() {
        return List.copyOf(states.values());
    }

    @Override
    public synchronized NodeTemplate prepare(String name) {
        asked.add(name);
        var before = states.get(name);
        whenAsked.run();
        return before;
    }

    @Override
    public boolean holds(List<String> layers) {
        return !layers.contains("lost");
    }

    @Override
    public void onReady(Consumer<NodeTemplate> listener) {
        listeners.add(listener);
    }
}
