package dev.cay.node.ingress;

import dev.cay.http.Exchange;
import dev.cay.http.Handler;
import dev.cay.metrics.Meters;
import dev.cay.node.files.FileTree;
import dev.cay.node.guest.GuestLink;
import dev.cay.node.guest.TestSandbox;
import dev.cay.node.log.LogHub;
import dev.cay.node.process.ProcessSettings;
import dev.cay.node.process.ProcessTable;
import dev.cay.node.watch.WatchHub;
import dev.cay.node.watch.Watches;
import dev.cay.wire.AccessToken;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.ResourceUse;
import java.io.IOException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;

/// An envd over a real guest that has the host's files.
final class GuestEnvd implements Handler, AutoCloseable {
    static final String TOKEN = "0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0";
    private static final Instant NOW = Instant.ofEpochSecond(1_800_000_000);
    private static final SandboxId ID = new SandboxId("abc");

    final TestSandbox sandbox = new TestSandbox();
    private final WatchHub hub = new WatchHub(sandbox.poller());
    private final ProcessSettings settings;
    private final Map<String, String> trusted;
    private final Map<String, String> asked;
    private GuestLink link;
    private ProcessTable table;
    private FileTree files;
    private Watches watches;
    private volatile Envd envd;

    /// @param trusted variables of the template
    /// @param asked   variables that came with the create
    GuestEnvd(ProcessSettings settings, Map<String, String> trusted, Map<String, String> asked) throws Exception {
        this.settings = settings;
        this.trusted = trusted;
        this.asked = asked;
        open();
    }

    private void open() throws IOException {
        link = sandbox.link();
        table = new ProcessTable(sandbox.directory().resolve("processes"), link, sandbox.workers(), settings);
        table.adopt();
        files = FileTree.open(sandbox.pid(), 0, sandbox.threads().shareOf(() -> "test"));
        watches = new Watches(files, hub);
        envd = new Envd(
                new EnvdSandbox(
                        ID,
                        new TemplateId("base"),
                        trusted,
                        asked,
                        new AccessToken(TOKEN),
                        "root",
                        "/tmp",
                        table,
                        files,
                        watches,
                        new EnvdSandbox.Followers() {
                            @Override
                            public void add(Exchange exchange) {
                                // Nothing here is ever away for a moment.
                            }

                            @Override
                            public ProcessTable rejoin(Exchange exchange) {
                                throw new IllegalStateException("the table was closed for good");
                            }
                        },
                        () -> new ResourceUse(NOW, 2, 12.345, 1 << 20, 1 << 29, 5, 6, 7, 8, 9),
                        () -> List.of(8000),
                        new LogHub(InstantSource.fixed(NOW)).of(ID)),
                InstantSource.fixed(NOW),
                new Meters());
    }

    /// What a daemon that comes back does; open streams are cut.
    void restart() throws IOException {
        leave();
        open();
    }

    Watches watches() {
        return watches;
    }

    @Override
    public void handle(Exchange exchange) throws Exception {
        envd.handle(exchange);
    }

    private void leave() {
        watches.close();
        files.close();
        table.close();
        link.close();
    }

    @Override
    public void close() throws IOException {
        leave();
        hub.close();
        sandbox.close();
    }
}
