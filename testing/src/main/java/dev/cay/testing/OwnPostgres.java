package dev.cay.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A PostgreSQL server of a test's own, from the host's package: its files in a directory of the test, on a port of
/// loopback that nobody else has, asking for a password. The server runs as the user `postgres`, as it refuses
/// root, and dies with the test.
public final class OwnPostgres implements AutoCloseable {
    private static final Path PROGRAMS = Path.of("/usr/lib/postgresql");
    private static final String USER = "cay";
    private static final int PATIENCE_SECONDS = 60;

    private final Path directory;
    private final Path programs;
    private final String password;
    private final int port;
    private final Map<String, String> settings = new TreeMap<>();
    private @Nullable Process server;

    private OwnPostgres(Path directory, Path programs, String password, int port) {
        this.directory = directory;
        this.programs = programs;
        this.password = password;
        this.port = port;
    }

    /// A new server with an empty database.
    ///
    /// @param directory is made; those above it must let other users pass
    public static OwnPostgres start(Path directory) throws IOException, InterruptedException {
        var fresh = new OwnPostgres(
                Files.createDirectories(directory).toRealPath(),
                programs(),
                UUID.randomUUID().toString(),
                OwnPort.free());
        fresh.openWay();
        fresh.initialize();
        fresh.start();
        fresh.run("createdb", "-h", "127.0.0.1", "-p", Integer.toString(fresh.port), "-U", USER, USER);
        return fresh;
    }

    /// Another server that follows this one, as it is made by a base backup.
    public OwnPostgres standby(Path where) throws IOException, InterruptedException {
        var fresh = new OwnPostgres(Files.createDirectories(where).toRealPath(), programs, password, OwnPort.free());
        fresh.openWay();
        fresh.run(
                "pg_basebackup",
                "-h",
                "127.0.0.1",
                "-p",
                Integer.toString(port),
                "-U",
                USER,
                "-D",
                fresh.data().toString(),
                "-R",
                "-X",
                "stream",
                "-c",
                "fast");
        fresh.start();
        return fresh;
    }

    /// Where it is, as an operator writes it.
    public String url() {
        return "postgresql://%s@127.0.0.1:%d/%s".formatted(USER, port, USER);
    }

    public int port() {
        return port;
    }

    public String password() {
        return password;
    }

    /// A file with the password, as an operator makes it.
    public Path passwordFile() {
        return directory.resolve("password");
    }

    /// Starts again with TLS, by a certificate that it signs for its own address.
    ///
    /// @return the certificate
    public Path encrypt() throws IOException, InterruptedException {
        kill();
        Path certificate = directory.resolve("server.crt");
        Path key = directory.resolve("server.key");
        execute(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=127.0.0.1",
                "-addext",
                "subjectAltName=IP:127.0.0.1",
                "-keyout",
                key.toString(),
                "-out",
                certificate.toString());
        set("ssl", "on").set("ssl_cert_file", certificate.toString()).set("ssl_key_file", key.toString());
        start();
        return certificate;
    }

    /// A setting for the next start.
    public OwnPostgres set(String name, String value) {
        settings.put(name, value);
        return this;
    }

    /// Starts a server that was stopped or killed, with all that is on its disk.
    public void start() throws IOException, InterruptedException {
        var command = new ArrayList<>(asItsUser());
        command.addAll(List.of(
                programs.resolve("postgres").toString(),
                "-D",
                data().toString(),
                "-p",
                Integer.toString(port),
                "-c",
                "listen_addresses=127.0.0.1",
                "-c",
                "unix_socket_directories=" + directory,
                "-c",
                "shared_buffers=32MB",
                "-c",
                "max_connections=60",
                "-c",
                "logging_collector=off",
                // What the server wrote outlives its process without them; only a machine that fails needs them.
                "-c",
                "fsync=off",
                "-c",
                "full_page_writes=off"));
        settings.forEach((name, value) -> command.addAll(List.of("-c", name + "=" + value)));
        var started = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()))
                .start();
        server = started;
        OwnPort.await(started, port, this::requireAnswer, "the database", log());
    }

    public boolean isRunning() {
        return server != null;
    }

    /// As a crash does: no server process gets another moment.
    public void kill() {
        var running = server;
        server = null;
        if (running == null) {
            return;
        }
        var all = new ArrayList<>(running.descendants().toList());
        all.addFirst(running.toHandle());
        all.forEach(ProcessHandle::destroyForcibly);
        for (var each : all) {
            each.onExit().orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS).join();
        }
    }

    /// Makes a standby the server that is written to.
    public void promote() throws IOException, InterruptedException {
        run("pg_ctl", "promote", "-w", "-D", data().toString());
    }

    /// Runs a statement as the server's own administrator.
    public String query(String sql) throws IOException, InterruptedException {
        return run("psql", "-h", "127.0.0.1", "-p", Integer.toString(port), "-U", USER, "-d", USER, "-tAc", sql);
    }

    /// Keeps the database as it is now, for {@link #renewDatabase}. Nobody may be connected to it.
    public void keepDatabase() throws IOException, InterruptedException {
        administrate("CREATE DATABASE kept TEMPLATE " + USER);
    }

    /// Replaces the database by a copy of what {@link #keepDatabase} kept, and ends connections to it.
    public void renewDatabase() throws IOException, InterruptedException {
        administrate(
                "DROP DATABASE %s WITH (FORCE)".formatted(USER), "CREATE DATABASE %s TEMPLATE kept".formatted(USER));
    }

    private void administrate(String... statements) throws IOException, InterruptedException {
        var arguments = new ArrayList<>(List.of(
                "-v",
                "ON_ERROR_STOP=1",
                "-h",
                "127.0.0.1",
                "-p",
                Integer.toString(port),
                "-U",
                USER,
                "-d",
                "postgres"));
        for (String statement : statements) {
            arguments.addAll(List.of("-c", statement));
        }
        run("psql", arguments.toArray(String[]::new));
    }

    @Override
    public void close() {
        kill();
    }

    private void initialize() throws IOException, InterruptedException {
        Files.writeString(passwordFile(), password);
        Files.setPosixFilePermissions(passwordFile(), PosixFilePermissions.fromString("rw-------"));
        own(passwordFile());
        run(
                "initdb",
                "-D",
                data().toString(),
                "-U",
                USER,
                "-A",
                "scram-sha-256",
                "--pwfile",
                passwordFile().toString(),
                "-E",
                "UTF8",
                "--locale=C.UTF-8",
                "--no-sync",
                "--no-instructions");
    }

    private void requireAnswer() throws IOException, InterruptedException {
        run("psql", "-h", "127.0.0.1", "-p", Integer.toString(port), "-U", USER, "-d", "postgres", "-c", "SELECT 1");
    }

    private String run(String program, String... arguments) throws IOException, InterruptedException {
        return execute(programs.resolve(program).toString(), arguments);
    }

    private String execute(String program, String... arguments) throws IOException, InterruptedException {
        var command = new ArrayList<>(asItsUser());
        command.add(program);
        command.addAll(List.of(arguments));
        var builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("PGPASSWORD", password);
        var process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
            process.destroyForcibly();
            throw new IOException("%s failed: %s".formatted(program, output));
        }
        return output.strip();
    }

    /// With a signal from the kernel when the test ends before it could stop the server.
    private static List<String> asItsUser() {
        return List.of(
                "setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", "--pdeathsig", "KILL");
    }

    private void openWay() throws IOException, InterruptedException {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
        own(directory);
        Path temporary = Path.of(System.getProperty("java.io.tmpdir")).toRealPath();
        for (Path above = directory.getParent();
                above != null && above.startsWith(temporary) && !above.equals(Path.of("/tmp"));
                above = above.getParent()) {
            Files.setPosixFilePermissions(above, PosixFilePermissions.fromString("rwx--x--x"));
        }
    }

    private static void own(Path path) throws IOException {
        var users = path.getFileSystem().getUserPrincipalLookupService();
        Files.setOwner(path, users.lookupPrincipalByName("postgres"));
    }

    private Path data() {
        return directory.resolve("data");
    }

    private Path log() {
        return directory.resolve("log");
    }

    private static Path programs() throws IOException {
        try (var versions = Files.list(PROGRAMS)) {
            return versions.map(version -> version.resolve("bin"))
                    .filter(bin -> Files.isExecutable(bin.resolve("initdb")))
                    .max((one, other) -> Integer.compare(version(one), version(other)))
                    .orElseThrow(() -> new IOException(
                            "there is no PostgreSQL server below " + PROGRAMS + "; install the package postgresql"));
        }
    }

    private static int version(Path bin) {
        return Integer.parseInt(bin.getName(bin.getNameCount() - 2).toString());
    }
}
