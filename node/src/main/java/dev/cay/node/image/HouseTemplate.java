package dev.cay.node.image;

import dev.cay.node.host.Programs;
import dev.cay.wire.node.StartCommand;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// A template that comes with Cay, made on the machine from its recipe: a tree, of its own or another's, what its
/// recipe and those it stands on add, and on top an interpreter, for some with a Java.
public final class HouseTemplate {
    /// The default template.
    public static final String BASE = "base";

    private static final String JAVA = "java";

    /// Languages for which every tree has programs.
    private static final List<String> ON_DEMAND = List.of("python", "javascript", "typescript", "bash");

    private final Recipe recipe;
    private final LayerStore layers;
    private final TreeLayer tree;
    private final JavaLayer java;
    private final InterpreterLayers interpreter;

    /// The added layers, from the bottom up.
    private final List<AddedLayer> added = new ArrayList<>();

    /// @param name one of {@link #names}
    /// @param logs directory for logs of builds
    public HouseTemplate(String name, LayerStore layers, Programs programs, Path logs) {
        this.recipe = Recipe.of(name);
        this.layers = layers;
        var additions = new ArrayDeque<Recipe>();
        var bottom = recipe;
        for (var below = recipe.standsOn(); below.isPresent(); below = bottom.standsOn()) {
            additions.addFirst(bottom);
            bottom = Recipe.of(below.get());
        }
        this.tree = new TreeLayer(layers, programs, logs, bottom);
        String top = tree.key();
        for (var each : additions) {
            if (each.hasContent()) {
                added.add(new AddedLayer(layers, programs, logs, each, tree.key(), top));
                top = added.getLast().key();
            }
        }
        this.interpreter = new InterpreterLayers(layers, programs);
        this.java = new JavaLayer(layers, programs, logs, Path.of(System.getProperty("java.home")));
    }

    public static List<String> names() {
        return Recipe.NAMES;
    }

    public String name() {
        return recipe.name();
    }

    /// Least memory of its sandboxes.
    int memoryMB() {
        return recipe.memoryMB();
    }

    /// Whether all layers exist that take minutes to build.
    public boolean isBuilt() {
        return keys().allMatch(layers::has);
    }

    /// Bytes on disk of the existing layers.
    public long size() {
        return keys().mapToLong(layers::size).sum();
    }

    /// Approximate megabytes on disk of the missing layers.
    public int missingMB() {
        return tree.missingMB() + added.stream().mapToInt(AddedLayer::missingMB).sum();
    }

    /// The start command of its sandboxes.
    public Optional<StartCommand> start() {
        return recipe.start();
    }

    private Stream<String> keys() {
        return Stream.concat(Stream.of(tree.key()), added.stream().map(AddedLayer::key));
    }

    /// The progress of a running build, also of one in another process; empty when there is none.
    public Optional<String> underWay() {
        return keys().flatMap(key -> layers.underWay(key).stream()).findFirst();
    }

    /// Builds the missing layers.
    ///
    /// @return keys of its layers, top first
    public List<String> build(BuildProgress progress) {
        var keys = new ArrayList<>(List.of(tree.build(progress)));
        added.forEach(one -> keys.addFirst(one.build(progress)));
        var languages = new ArrayList<>(recipe.languages());
        if (languages.contains(JAVA)) {
            progress.at("copying the JDK", "", 0.98);
            java.build().ifPresentOrElse(keys::addFirst, () -> languages.remove(JAVA));
        }
        if (languages.isEmpty()) {
            keys.addFirst(interpreter.onDemand(ON_DEMAND));
        } else {
            keys.addFirst(interpreter.fromStart(languages));
        }
        progress.at("ready", "%d MB".formatted(size() >> 20), 1);
        return keys;
    }
}
