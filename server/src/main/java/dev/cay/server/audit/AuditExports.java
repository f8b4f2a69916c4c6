package dev.cay.server.audit;

import dev.cay.life.Undo;
import dev.cay.metrics.Meters;
import dev.cay.server.store.Store;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The copies of the audit log that the operator configured.
public final class AuditExports implements AutoCloseable {
    /// @param file   gets each entry as a line of JSON; null for none
    /// @param syslog the path of the local socket, or an address like `udp://logs.example.org:514`; null for none
    public record Settings(@Nullable Path file, @Nullable String syslog) {
        public static final Settings NONE = new Settings(null, null);
    }

    private final List<AuditExport> all = new ArrayList<>();
    private final Undo opened = new Undo();

    AuditExports(Settings settings, Store store, Meters meters) {
        if (settings.file() != null) {
            all.add(opened.add(new AuditExport("file", new FileTarget(settings.file()), store, true)));
        }
        if (settings.syslog() != null) {
            all.add(opened.add(new AuditExport("syslog", syslog(settings.syslog()), store, false)));
        }
        if (!all.isEmpty()) {
            meters.gauges(
                    "cay_audit_export_behind",
                    "Entries of the audit log that were not copied yet, by target",
                    "target",
                    this::behind);
        }
    }

    /// Sends entries once.
    ///
    /// @param where as in the settings
    public static void sendToSyslog(String where, List<AuditChain.Link> links)
            throws IOException, InterruptedException {
        syslog(where).write(links);
    }

    private static AuditExport.Target syslog(String where) {
        if (!where.startsWith("udp://")) {
            return new LocalSyslogTarget(Path.of(where));
        }
        var address = URI.create(where);
        return new UdpSyslogTarget(address.getHost(), address.getPort() < 0 ? 514 : address.getPort());
    }

    void start() {
        all.forEach(AuditExport::start);
    }

    /// Wakes the threads, because there are new entries.
    void wake() {
        all.forEach(AuditExport::wake);
    }

    private Map<String, Long> behind() {
        var behind = new TreeMap<String, Long>();
        all.forEach(export -> behind.put(export.name(), export.behind()));
        return behind;
    }

    /// Copies the entries that are written by now, then stops.
    @Override
    public void close() {
        opened.close();
    }
}
