package dev.cay.server;

import dev.cay.life.Undo;
import dev.cay.server.build.BuildService;
import dev.cay.server.template.DiskCollections;
import dev.cay.server.template.TemplateSupply;
import dev.cay.server.template.Templates;

/// What sandboxes start from: templates, those that come with Cay, builds of users, and the removal of what is not
/// needed any more.
record TemplateParts(Templates templates, TemplateSupply supply, BuildService builds, DiskCollections collections) {
    /// @param opened closes what has to be closed
    static TemplateParts make(
            ServerSettings.Templates settings,
            ServerBase base,
            TeamParts teams,
            Templates templates,
            TemplateSupply supply,
            SandboxParts sandboxes,
            ObservationParts observation,
            AttachedNode node,
            Undo opened) {
        var builds = new BuildService(
                settings.builds(),
                base.store(),
                teams.access(),
                teams.quotas(),
                templates,
                supply,
                node.builds(),
                base.tokens(),
                sandboxes.storage().snapshots(),
                sandboxes.directory(),
                (template, build, line) -> observation.shipper().add(template.teamId(), template.id(), build, line),
                base.clock());
        var collections =
                opened.add(new DiskCollections(teams.access(), templates, node.disk(), settings.keepUnused()));
        return new TemplateParts(templates, supply, builds, collections);
    }
}
