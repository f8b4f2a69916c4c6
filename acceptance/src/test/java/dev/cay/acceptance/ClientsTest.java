package dev.cay.acceptance;

import dev.cay.acceptance.ClientSuite.Client;
import dev.cay.platform.OwnCay;
import dev.cay.testing.NeedsRoot;
import dev.cay.testing.OwnPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// E2B's own client, unmodified, in several versions and all the ways they have of reaching the platform. The cases are
/// in `src/test/js`; each says which public methods of the client it covers, and none may be left.
@ExtendWith(TestPlatform.class)
@NeedsRoot
final class ClientsTest {
    private static final List<String> FILES = List.of(
            "sandbox.test.mjs",
            "commands.test.mjs",
            "pty.test.mjs",
            "files.test.mjs",
            "watch.test.mjs",
            "git.test.mjs",
            "errors.test.mjs",
            "ports.test.mjs",
            "observe.test.mjs",
            "secrets.test.mjs",
            "pause.test.mjs",
            "volumes.test.mjs",
            "templates.test.mjs",
            "methods.test.mjs");

    /// What has to do with the way to the platform; all else is the same by any.
    private static final List<String> WAY =
            List.of("sandbox.test.mjs", "commands.test.mjs", "files.test.mjs", "ports.test.mjs");

    /// Meets a Cay whose records are in PostgreSQL.
    private static final Client ON_POSTGRES = client("2.51.0", OwnCay.Mode.URL, FILES);

    /// Every version with every file once, and the newest once more by the other way.
    private static final List<Client> CLIENTS = List.of(
            client("2.51.0", OwnCay.Mode.DOMAIN, FILES),
            ON_POSTGRES,
            client("2.30.1", OwnCay.Mode.DOMAIN, FILES),
            client("2.30.1", OwnCay.Mode.URL, WAY),
            client("2.9.0", OwnCay.Mode.DOMAIN, FILES),
            client("2.9.0", OwnCay.Mode.URL, WAY),
            // It does not read the variables that hold URLs.
            client("1.9.0", OwnCay.Mode.DOMAIN, FILES));

    /// The cases mostly wait, so a few files run side by side.
    private static final ClientSuite SUITE = new ClientSuite(
            CompatibilityReport.Part.E2B,
            "",
            3,
            Set.of("Commands.run", "Filesystem.watchDir", "CommandHandle.wait", "WatchHandle.stop"));

    @TempDir
    private static Path directory = Path.of("unset");

    private static @Nullable OwnPostgres database;
    private static @Nullable OwnCay other;

    private static Client client(String version, OwnCay.Mode mode, List<String> files) {
        return new Client("e2b", version, mode, files);
    }

    @TestFactory
    List<DynamicNode> everyVersionEveryWay(OwnCay platform) throws Exception {
        database = OwnPostgres.start(directory.resolve("database"));
        var onPostgres = OwnCay.start(PostgresPlatformTest.settings(database));
        other = onPostgres;
        return SUITE.run(client -> client.equals(ON_POSTGRES) ? onPostgres : platform, CLIENTS);
    }

    @AfterAll
    static void end() throws IOException {
        if (other != null) {
            other.close();
        }
        if (database != null) {
            database.close();
        }
    }
}
