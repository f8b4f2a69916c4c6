package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Await;
import dev.cay.wire.BuildId;
import dev.cay.wire.TeamId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.BuildLine;
import dev.cay.wire.node.BuildPlan;
import dev.cay.wire.node.BuildPlan.Step;
import dev.cay.wire.node.BuildResult;
import dev.cay.wire.node.NodeBuilds;
import dev.cay.wire.node.Resources;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A build on the template base, and what is told of it.
final class HeardBuild implements NodeBuilds.Watcher {
    static final Resources SIZE = new Resources(1, 256, 200);

    private final BuildId id = new BuildId(UUID.randomUUID().toString());
    private final List<String> lines = Collections.synchronizedList(new ArrayList<>());
    private final CountDownLatch over = new CountDownLatch(1);
    private volatile @Nullable BuildResult result;
    private volatile @Nullable String step;
    private volatile @Nullable String failure;

    static Step run(String command) {
        return new Step("RUN", List.of(command, "root"), null, false);
    }

    static HeardBuild begin(TestNode node, Step... steps) {
        return begin(node, (String) null, steps);
    }

    /// @param snapshot a saved sandbox to begin with; null for the template base
    static HeardBuild begin(TestNode node, @Nullable String snapshot, Step... steps) {
        return begin(node, new TeamId("team"), snapshot, steps);
    }

    /// The same, for a team.
    static HeardBuild begin(TestNode node, TeamId team, @Nullable String snapshot, Step... steps) {
        var heard = new HeardBuild();
        node.node
                .builds()
                .begin(
                        new BuildPlan(
                                heard.id,
                                new TemplateId("built"),
                                team,
                                new BuildPlan.Base.Layers(List.of("base"), snapshot, "user", null, Map.of()),
                                Arrays.asList(steps),
                                false,
                                null,
                                null,
                                SIZE),
                        heard);
        return heard;
    }

    @Override
    public void said(BuildLine line) {
        lines.add(line.message());
    }

    @Override
    public void ready(BuildResult made) {
        result = made;
        over.countDown();
    }

    @Override
    public void failed(@Nullable String where, String message) {
        step = where;
        failure = message;
        over.countDown();
    }

    BuildId id() {
        return id;
    }

    List<String> lines() {
        return lines;
    }

    @Nullable
    String step() {
        return step;
    }

    @Nullable
    String failure() {
        return failure;
    }

    /// What came of one that has ended.
    BuildResult require() {
        assertThat(failure).as(String.join("\n", lines)).isNull();
        return Objects.requireNonNull(result);
    }

    HeardBuild await() throws InterruptedException {
        assertThat(over.await(2, TimeUnit.MINUTES)).as("it ends").isTrue();
        return this;
    }

    void awaitLine(String part) {
        Await.until(
                () -> "the line '%s' in %s".formatted(part, lines),
                () -> List.copyOf(lines).stream().anyMatch(line -> line.endsWith("[stdout]: " + part)));
    }
}
