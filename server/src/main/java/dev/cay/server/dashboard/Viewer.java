package dev.cay.server.dashboard;

import dev.cay.server.access.TeamKey;
import dev.cay.wire.TeamId;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Who sits before a browser that is signed in.
///
/// @param name       an e-mail address, or the name of an API key
/// @param isPerson   whether it is a person, and not an API key
/// @param holder     names the viewer to {@link dev.cay.server.access.Holders#serve}
/// @param credential headers that the API takes
/// @param token      what pages of this viewer send with each call
/// @param rights     one for each team of the viewer's
record Viewer(
        String name,
        boolean isPerson,
        String holder,
        Map<String, String> credential,
        String token,
        List<TeamKey> rights) {
    Viewer {
        credential = Map.copyOf(credential);
        rights = List.copyOf(rights);
    }

    Optional<TeamKey> rightsIn(TeamId team) {
        return rights.stream().filter(one -> one.team().id().equals(team)).findFirst();
    }
}
