package dev.cay.server;

import dev.cay.life.Undo;
import dev.cay.server.edge.EgressValues;
import dev.cay.server.network.NetworkReader;
import dev.cay.server.network.TeamNetworks;
import dev.cay.server.network.TemplateNetworks;
import dev.cay.server.sandbox.SandboxDirectory;
import dev.cay.server.template.Templates;
import java.util.Set;

/// What sandboxes may reach: rules of requests and teams, and the secrets that the node fills in on the way out.
record NetworkParts(TeamNetworks teams, TemplateNetworks templates, NetworkReader reader, EgressValues placeholders) {
    /// @param opened closes what has to be closed
    static NetworkParts make(
            ServerSettings settings,
            ServerBase base,
            TeamParts teams,
            Templates templates,
            SandboxDirectory directory,
            Undo opened) {
        var secrets = teams.secrets();
        var ofTeams = new TeamNetworks(base.store());
        var ofTemplates = new TemplateNetworks(base.store(), templates::own);
        var open = Set.copyOf(settings.sandboxes().openAddresses());
        return new NetworkParts(
                ofTeams,
                ofTemplates,
                opened.add(new NetworkReader(base.tokens(), ofTemplates, ofTeams, open, secrets::requireUsable)),
                new EgressValues(directory, secrets, teams.identities(), settings.domain(), base.tokens()));
    }

    /// Reads the rules that are on record.
    void start() {
        teams.start();
        templates.start();
    }
}
