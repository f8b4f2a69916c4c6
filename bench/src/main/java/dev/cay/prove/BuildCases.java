package dev.cay.prove;

import dev.cay.life.Trees;
import dev.cay.life.Undo;
import dev.cay.platform.OwnCay;
import dev.cay.testing.OwnRegistry;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/// Plays all cases against one platform.
final class BuildCases implements AutoCloseable {
    private static final List<String> PARTS = List.of("crash", "sandbox", "registry", "disk");

    private final Undo closing = new Undo();
    private final Stage stage;
    private final BuildCache cache;
    private final OwnRegistry registry;

    BuildCases(Stage stage, BuildCache cache) throws IOException, InterruptedException {
        this.stage = stage;
        this.cache = cache;
        try (var undo = new Undo()) {
            undo.add(closing);
            Path directory = Files.createTempDirectory("cay-registry-");
            closing.step(() -> Trees.delete(directory));
            registry = closing.add(OwnRegistry.start(directory, false));
            undo.keep();
        }
    }

    /// The address of the registry, as the configuration has it.
    String registry() {
        return "http://" + registry.host();
    }

    Verdict play(OwnCay cay) throws Exception {
        var parts = Set.copyOf(stage.chosen(PARTS, part -> part));
        var cases = Stream.of(BuildCrashes.all(), new BuildPulls(registry).all(), BuildDisks.all())
                .flatMap(List::stream)
                .filter(each -> parts.contains(each.part()))
                .toList();
        var wrong = new ArrayList<String>();
        long begun = System.nanoTime();
        try (var world = new BuildWorld(cay, cache)) {
            for (var each : cases) {
                String trouble = play(each, world);
                stage.say(each.title() + ": " + (trouble.isEmpty() ? "holds" : trouble));
                if (!trouble.isEmpty()) {
                    wrong.add("- " + each.title() + ": " + trouble);
                }
            }
            String left = world.lastLeftovers();
            if (!left.isEmpty()) {
                wrong.add("- at the end: " + left);
            }
        }
        return new Verdict(
                wrong.isEmpty(),
                "%d builds struck in %d minutes, %d times something was lost, stuck or left"
                        .formatted(cases.size(), (System.nanoTime() - begun) / 60_000_000_000L, wrong.size()),
                wrong);
    }

    private static String play(BuildCase each, BuildWorld world) throws Exception {
        try {
            return each.play().run(world);
        } catch (IllegalStateException | CayException | IOException e) {
            if (!world.cay().daemon().isAlive()) {
                world.cay().startAgain();
            }
            return String.valueOf(e.getMessage());
        }
    }

    @Override
    public void close() {
        closing.close();
    }
}
