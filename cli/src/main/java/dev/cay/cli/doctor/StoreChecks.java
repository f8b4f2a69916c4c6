package dev.cay.cli.doctor;

import dev.cay.cli.local.Root;
import dev.cay.cli.local.Stores;
import dev.cay.config.CayConfig;
import dev.cay.server.store.postgres.PostgresReport;
import dev.cay.wire.CayException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/// Looks at the database that records are in.
final class StoreChecks implements Check {
    private static final String NAME = "database";

    @Override
    public List<Finding> look(CayConfig config, UnaryOperator<String> command) {
        try {
            var address = Stores.address(config);
            if (address.isEmpty()) {
                return List.of(Finding.ok(NAME, "the file " + Stores.file(config)));
            }
            if (!Root.here()) {
                return List.of(Finding.note(NAME, address.get() + ", not looked at without root"));
            }
            var report = PostgresReport.of(
                    address.get(), Stores.password(config.store().passwordFile()));
            return findings(address.get().toString(), report);
        } catch (CayException e) {
            return List.of(Finding.fail(NAME, e.userMessage(), "see docs/operate/database.md"));
        }
    }

    static List<Finding> findings(String address, PostgresReport report) {
        var findings = new ArrayList<Finding>();
        findings.add(Finding.ok(
                NAME,
                "%s, PostgreSQL %s, %s"
                        .formatted(address, report.version(), report.tls() ? "encrypted" : "not encrypted")));
        for (String danger : report.dangers()) {
            findings.add(Finding.warn(NAME, danger, "set it to on in postgresql.conf and reload the server"));
        }
        findings.add(
                report.standbys()
                        ? Finding.ok("standby", "a commit waits for it; a promoted one has all that was acknowledged")
                        : Finding.note(
                                "standby", "no commit waits for one; a promoted standby may lack the last moments"));
        return findings;
    }
}
