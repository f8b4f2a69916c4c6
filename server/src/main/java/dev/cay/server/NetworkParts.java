package dev.cay.server;

import dev.cay.life.Undo;
import dev.cay.server.network.NetworkReader;
import dev.cay.server.network.TeamNetworks;
import dev.cay.server.sandbox.EgressValues;
import dev.cay.server.sandbox.SandboxDirectory;
import java.util.Set;

/// What sandboxes may reach: rules of requests and teams, and the secrets that the node fills in on the way out.
record NetworkParts(TeamNetworks teams, NetworkReader reader, EgressValues placeholders) {
    /// @param opened closes what has to be closed
    static NetworkParts make(
            ServerSettings settings, ServerBase base, TeamParts teams, SandboxDirectory directory, Undo opened) {
        var secrets = teams.secrets();
        var networks = new TeamNetworks(base.store());
        var open = Set.copyOf(settings.sandboxes().openAddresses());
        return new NetworkParts(
                networks,
                opened.add(new NetworkReader(base.tokens(), networks, open, secrets::requireUsable)),
                new EgressValues(directory, secrets, teams.identities()));
    }
}
