package dev.cay.cli;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/// Teams by what people know them by.
final class TeamIds {
    private TeamIds() {}

    /// The id of the team with this id, slug or name.
    static String require(Api operator, String wanted) {
        var teams = operator.call("GET", "/admin/teams", null);
        return StreamSupport.stream(teams.spliterator(), false)
                .filter(team -> Stream.of("teamID", "slug", "name")
                        .anyMatch(field -> team.path(field).asString("").equals(wanted)))
                .map(team -> team.path("teamID").asString(""))
                .findFirst()
                .orElseThrow(() -> new CayException(
                        ErrorKind.NOT_FOUND, "there is no team '%s'; `cay team list` shows all".formatted(wanted)));
    }
}
