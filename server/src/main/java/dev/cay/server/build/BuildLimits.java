package dev.cay.server.build;

import dev.cay.server.access.Team;
import dev.cay.server.template.BuildStatus;
import dev.cay.server.template.TemplateBuild;
import dev.cay.server.template.TemplateRecord;
import dev.cay.server.template.Templates;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/// Refuses builds of teams and API keys that have as many under way as they may.
final class BuildLimits {
    /// A requested build that was not started within this time does not count any more.
    private static final Duration ABANDONED = Duration.ofHours(1);

    private final Templates templates;
    private final ToIntFunction<Team> mostPerTeam;
    private final Function<String, Optional<Integer>> mostPerKey;

    /// @param mostPerTeam how many builds of one team may be under way
    /// @param mostPerKey  how many builds of one family of keys may be; empty for no limit
    BuildLimits(Templates templates, ToIntFunction<Team> mostPerTeam, Function<String, Optional<Integer>> mostPerKey) {
        this.templates = templates;
        this.mostPerTeam = mostPerTeam;
        this.mostPerKey = mostPerKey;
    }

    /// Refuses the request for a build while as many as there may be are under way, or were requested lately.
    ///
    /// @param family of the API key that asks; null for the operator's
    void requireRoomForRequest(Team team, @Nullable String family, Instant now) {
        var recently = now.minus(ABANDONED);
        requireRoom(
                team,
                family,
                (_, build) -> build.isUnderWay()
                        && (build.status() == BuildStatus.BUILDING
                                || build.createdAt().isAfter(recently)));
    }

    /// Refuses one more build while so many of the team, or of the family of keys that asks, count.
    void requireRoom(Team team, @Nullable String family, BiPredicate<TemplateRecord, TemplateBuild> counts) {
        var underWay = templates.list(team).stream()
                .flatMap(template -> template.builds().stream().filter(build -> counts.test(template, build)))
                .toList();
        if (underWay.size() >= mostPerTeam.applyAsInt(team)) {
            throw full(underWay.size(), "this team");
        }
        if (family == null) {
            return;
        }
        int own = (int) underWay.stream()
                .filter(build -> family.equals(build.keyFamily()))
                .count();
        if (mostPerKey.apply(family).filter(most -> own >= most).isPresent()) {
            throw full(own, "this API key");
        }
    }

    private static CayException full(int underWay, String owner) {
        return new CayException(
                ErrorKind.EXHAUSTED,
                "%d builds of %s are under way, and there may be no more at a time; wait for one to end"
                        .formatted(underWay, owner));
    }
}
