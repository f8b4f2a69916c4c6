package dev.cay.server.build;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Team;
import dev.cay.server.template.TemplateSupply;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.NodeBuilds;
import dev.cay.wire.node.TemplateImage;
import java.io.IOException;

/// Routes that return a template as a container image.
public final class ImageRoutes {
    private final Access access;
    private final TemplateSupply supply;
    private final NodeBuilds node;

    ImageRoutes(Access access, TemplateSupply supply, NodeBuilds node) {
        this.access = access;
        this.supply = supply;
        this.node = node;
    }

    public void addTo(Routes routes) {
        routes.on("GET", "/templates/{templateID}/image", access.guard(this::send));
    }

    /// The image's size is not known before all of it is packed, so an error on the way ends the connection.
    private void send(Team team, Exchange exchange) throws IOException {
        String tag = exchange.query("tag");
        String asked = exchange.parameter("templateID") + (tag == null || tag.isEmpty() ? "" : ":" + tag);
        var start = supply.requireStart(team, asked);
        if (start.snapshot() != null && start.start() == null) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "what was saved of a sandbox is no image; name a template that was built");
        }
        String name = start.alias() == null ? start.templateId().value() : start.alias();
        var image = new TemplateImage(
                name + ":" + (tag == null || tag.isEmpty() ? "latest" : tag),
                start.origin().layers(),
                start.origin().defaultUser(),
                start.origin().defaultWorkdir(),
                start.start());
        try (var out = exchange.with("Content-Type", "application/x-tar").stream(200)) {
            node.export(image, out);
        }
    }
}
