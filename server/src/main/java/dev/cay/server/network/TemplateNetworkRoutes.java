package dev.cay.server.network;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Caller;
import dev.cay.server.request.RequestBody;
import dev.cay.server.template.TemplateRecord;
import dev.cay.server.template.Templates;
import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;

/// The egress of a template's sandboxes whose client says nothing about it: for the team that owns the template.
public final class TemplateNetworkRoutes {
    private final Access access;
    private final Templates templates;
    private final TemplateNetworks networks;
    private final NetworkReader reader;

    public TemplateNetworkRoutes(Access access, Templates templates, TemplateNetworks networks, NetworkReader reader) {
        this.access = access;
        this.templates = templates;
        this.networks = networks;
        this.reader = reader;
    }

    public void addTo(Routes routes) {
        String path = "/templates/{templateID}/network";
        routes.on("GET", path, access.guardCaller((caller, exchange) -> show(own(caller, exchange), caller, exchange)));
        routes.on("PUT", path, access.guardCaller(this::set));
        routes.on("DELETE", path, access.guardCaller(this::reset));
    }

    private void show(TemplateRecord template, Caller caller, Exchange exchange) {
        var choice = networks.find(template.id());
        var answer = new LinkedHashMap<String, @Nullable Object>();
        answer.put("source", choice.isPresent() ? "template" : "default");
        answer.put(
                "allow_internet_access",
                choice.map(set -> set.allowInternetAccess()).orElse(null));
        boolean open = caller.scope().opensSandboxes();
        answer.put("network", choice.map(set -> NetworkView.of(set, open)).orElse(null));
        exchange.sendJson(200, answer);
    }

    private void set(Caller caller, Exchange exchange) {
        var template = own(caller, exchange);
        networks.set(template.id(), reader.choice(caller, RequestBody.of(exchange)));
        show(template, caller, exchange);
    }

    private void reset(Caller caller, Exchange exchange) {
        networks.set(own(caller, exchange).id(), null);
        exchange.send(204);
    }

    private TemplateRecord own(Caller caller, Exchange exchange) {
        var template = templates.requireOwn(caller.team(), exchange.parameter("templateID"));
        exchange.about("template", template.id().value());
        return template;
    }
}
