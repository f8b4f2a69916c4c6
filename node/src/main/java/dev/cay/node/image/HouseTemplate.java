package dev.cay.node.image;

import dev.cay.node.host.Programs;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A template that comes with Cay, made on the machine from its recipe: a tree, of its own or another's with something
/// added, and for those with an interpreter the runners and a Java on top.
public final class HouseTemplate {
    /// What all sandboxes start from that ask for nothing else.
    public static final String BASE = "base";

    /// Where a template names, one a line, the languages it has runners and all else for; one without has no
    /// interpreter.
    public static final String LANGUAGES = RunnersLayer.LANGUAGES;

    private static final String JAVA = "java";

    private final Recipe recipe;
    private final LayerStore layers;
    private final TreeLayer tree;
    private final JavaLayer java;
    private final @Nullable AddedLayer added;

    /// @param name one of {@link #names}
    /// @param logs directory for logs of builds
    public HouseTemplate(String name, LayerStore layers, Programs programs, Path logs) {
        this.recipe = Recipe.of(name);
        this.layers = layers;
        var bottom = recipe.standsOn().map(Recipe::of);
        this.tree = new TreeLayer(layers, programs, logs, bottom.orElse(recipe));
        this.added = bottom.isEmpty() ? null : new AddedLayer(layers, programs, logs, recipe, tree.key());
        this.java = new JavaLayer(layers, programs, logs, Path.of(System.getProperty("java.home")));
    }

    public static List<String> names() {
        return Recipe.NAMES;
    }

    public String name() {
        return recipe.name();
    }

    /// What its sandboxes have at least.
    int memoryMB() {
        return recipe.memoryMB();
    }

    /// Whether all that takes minutes is there.
    public boolean isBuilt() {
        return layers.has(tree.key()) && (added == null || layers.has(added.key()));
    }

    /// Bytes on disk of what is built.
    public long size() {
        return layers.size(tree.key()) + (added == null ? 0 : layers.size(added.key()));
    }

    /// How far a build is, also one of another process; empty when none is under way.
    public Optional<String> underWay() {
        return layers.underWay(tree.key())
                .or(() -> Optional.ofNullable(added).flatMap(one -> layers.underWay(one.key())));
    }

    /// Builds what is not there.
    ///
    /// @return keys of its layers, top first
    public List<String> build(BuildProgress progress) {
        var keys = new ArrayList<>(List.of(tree.build(progress)));
        if (added != null) {
            keys.addFirst(added.build(progress));
        }
        var languages = new ArrayList<>(recipe.languages());
        if (languages.contains(JAVA)) {
            progress.at("copying the JDK", "", 0.98);
            java.build().ifPresentOrElse(keys::addFirst, () -> languages.remove(JAVA));
        }
        if (!languages.isEmpty()) {
            keys.addFirst(new RunnersLayer(layers).build(languages));
        }
        progress.at("ready", "%d MB".formatted(size() >> 20), 1);
        return keys;
    }
}
