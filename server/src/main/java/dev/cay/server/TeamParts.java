package dev.cay.server;

import dev.cay.life.Undo;
import dev.cay.server.access.Access;
import dev.cay.server.access.AdminToken;
import dev.cay.server.access.ApiKeys;
import dev.cay.server.access.Teams;
import dev.cay.server.audit.AuditLog;
import dev.cay.server.identity.IdentityTokens;
import dev.cay.server.quota.Quotas;
import dev.cay.server.secret.Secrets;

/// Who may do what: teams with their keys, limits and secrets, and the log of what they did.
record TeamParts(
        Quotas quotas,
        AuditLog audit,
        Access access,
        ApiKeys keys,
        Teams teams,
        Secrets secrets,
        IdentityTokens identities) {
    /// @param opened closes what has to be closed
    static TeamParts make(ServerSettings settings, ServerBase base, Undo opened) {
        var store = base.store();
        var clock = base.clock();
        var random = base.random();
        var files = settings.files();
        var quotas = new Quotas(store, settings.teams().limits());
        var audit = opened.add(new AuditLog(settings.observation().audit(), store, clock, base.meters()));
        var access = new Access(store, quotas, new AdminToken(files.adminToken()), clock, random, audit);
        opened.step(access::close);
        var keys = new ApiKeys(store, access, clock, random);
        var teams = new Teams(store, access, clock);
        var secrets = new Secrets(store, files.secret().resolveSibling("secrets.keys"), clock, random);
        var identities = new IdentityTokens(
                files.secret().resolveSibling("identity.key"),
                settings.teams().people().url(),
                clock);
        return new TeamParts(quotas, audit, access, keys, teams, secrets, identities);
    }

    /// Reads what is on record; where there is no team yet, makes the first one.
    void start() {
        audit.start();
        quotas.start();
        access.start();
        secrets.start();
    }
}
