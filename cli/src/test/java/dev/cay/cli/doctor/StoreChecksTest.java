package dev.cay.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.server.store.postgres.PostgresReport;
import dev.cay.testing.Fast;
import java.util.List;
import org.junit.jupiter.api.Test;

@Fast
final class StoreChecksTest {
    @Test
    void aServerThatKeepsWhatItAcknowledgedIsFine() {
        assertThat(StoreChecks.findings("postgresql://cay@db/cay", new PostgresReport("17.2", true, List.of(), true)))
                .allMatch(finding -> finding.level() == Finding.Level.OK)
                .anyMatch(finding -> finding.found().equals("postgresql://cay@db/cay, PostgreSQL 17.2, encrypted"));
    }

    @Test
    void aSettingThatCanLoseRecordsIsAWarningWithAFix() {
        var report = new PostgresReport("15.19", false, List.of("fsync is off: a crash loses records"), false);
        var findings = StoreChecks.findings("postgresql://cay@db/cay", report);
        assertThat(findings)
                .anyMatch(finding -> finding.level() == Finding.Level.WARN
                        && finding.found().startsWith("fsync is off")
                        && finding.fix() != null);
        assertThat(findings).anyMatch(finding -> finding.found().startsWith("no commit waits"));
        assertThat(findings).anyMatch(finding -> finding.found().endsWith("not encrypted"));
    }
}
