package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.cli.local.KeyFile;
import dev.cay.cli.local.Root;
import dev.cay.config.CayConfig;
import dev.cay.node.InstanceRemoval;
import dev.cay.node.host.HostLedger;
import dev.cay.node.host.HostPlan;
import dev.cay.node.host.Programs;
import dev.cay.node.image.LayerStore;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "uninstall",
        mixinStandardHelpOptions = true,
        description = "Take Cay off this machine: end it and all its sandboxes, put back what it changed.",
        footer = {
            "",
            "State, cache and keys stay unless --purge is given. Works whether Cay runs, was killed or never came up,",
            "asks nothing, and may be run again.",
            "",
            "Examples:",
            "  sudo ./cay uninstall --dry-run",
            "  sudo ./cay uninstall",
            "  sudo ./cay uninstall --purge"
        })
final class UninstallCommand implements Callable<Integer> {
    private static final Duration STOP_LIMIT = Duration.ofMinutes(5);
    private static final Duration KILL_LIMIT = Duration.ofSeconds(20);
    private static final Duration DELETE_LIMIT = Duration.ofMinutes(10);
    private static final Path UNIT = Path.of("/etc/systemd/system/cay.service");

    /// Files that Cay makes, deleted by name: the operator chooses the directories, which may contain other files.
    private static final List<String> STATE = List.of(
            "cay.db",
            "cay.db-wal",
            "cay.db-shm",
            "pool",
            "pool.btrfs",
            "pool.btrfs.new",
            "sandboxes",
            "records",
            "guest",
            "tls",
            "logs",
            "uploads",
            "secret",
            "secrets.keys",
            "secrets.keys.new",
            "identity.key",
            "identity.key.new",
            "admin.token",
            "admin.token.new",
            "mcp.key",
            "mcp.key.new",
            "mcp.clients",
            "mcp.clients.new",
            "mcp-images.json",
            "mcp-images.json.new",
            "mcp-repositories",
            "egress",
            StagedState.STAGING,
            StagedState.SETTINGS,
            RestoredStore.NOTE,
            "backup",
            "cay.lock");

    private static final List<String> CACHE = List.of(
            "layers", "claims", "steps", "images", "maven", "m2", "npm", "complete", "absent-packages", "bench");

    private static final List<String> RUN =
            List.of("cay.json", "cay.json.new", "end-all", "farewell", "bundles", "images", "runc");

    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Option(names = "--purge", description = "Delete state, cache, configuration and API keys too. Nothing is left.")
    private boolean purge;

    @Option(names = "--dry-run", description = "Only say what would be done.")
    private boolean dryRun;

    @Override
    public Integer call() throws Exception {
        CayConfig config = options.config();
        describe(config);
        if (dryRun) {
            return 0;
        }
        Root.require("uninstall", "to put back what root changed", options.command("uninstall"));
        removeUnit();
        try (var _ = stop(config)) {
            return remove(config);
        }
    }

    private int remove(CayConfig config) throws IOException {
        var plan = new HostPlan(
                config.instance(), config.storage().uidBase(), config.network().range());
        var failures = new ArrayList<>(new InstanceRemoval(plan, config.stateDir(), config.runDir()).run());
        delete(config.runDir(), RUN, failures);
        if (purge) {
            purge(config, failures);
        }
        if (!failures.isEmpty()) {
            throw new CayException(ErrorKind.UNAVAILABLE, "not all could be removed; " + String.join("; ", failures));
        }
        System.out.println(
                purge ? "Cay is uninstalled, and all its data is deleted." : "Cay is uninstalled; its data is kept.");
        return 0;
    }

    private void describe(CayConfig config) {
        String will = dryRun ? "would" : "will";
        System.out.println("This %s end instance \"%s\" and all its sandboxes, and take off this host:"
                .formatted(will, config.instance()));
        System.out.println(
                "  processes, cgroups, links, firewall rules, addresses, mounts and loop devices of its own;");
        System.out.println("  kernel settings, if no other Cay is on this host; the run directory " + config.runDir());
        if (unit().isPresent()) {
            System.out.println("  the service " + UNIT);
        }
        String fate = purge ? "and delete:" : "These stay (--purge deletes them):";
        System.out.println(fate);
        System.out.println("  state  " + config.stateDir());
        System.out.println(
                "  cache  " + config.cacheDir() + (othersUseCache(config) ? " (kept, another Cay uses it)" : ""));
        options.file().ifPresent(file -> System.out.println("  config " + file));
        keys(config).forEach(key -> System.out.println("  key    " + key));
    }

    /// The service runs with the usual configuration; another instance is not its.
    private Optional<Path> unit() {
        return Optional.of(UNIT).filter(file -> Files.exists(file) && options.isUsual());
    }

    private void removeUnit() throws IOException {
        if (unit().isPresent()) {
            Programs.ofHost().run(STOP_LIMIT, "systemctl", "disable", "--now", "cay");
            Files.deleteIfExists(UNIT);
            Programs.ofHost().run(KILL_LIMIT, "systemctl", "daemon-reload");
        }
    }

    /// Stops the daemon, which ends sandboxes in order. One that does not stop is killed; what it leaves is removed
    /// anyway.
    ///
    /// @return a lock that prevents another start meanwhile; null where there is nothing to start on
    private static @Nullable InstanceLock stop(CayConfig config) throws IOException, InterruptedException {
        if (!Files.isDirectory(config.stateDir())) {
            return null;
        }
        var lock = InstanceLock.take(config.stateDir());
        if (lock.isPresent()) {
            return lock.get();
        }
        var daemon = InstanceLock.holder(config.stateDir());
        if (!DownCommand.isCay(daemon)) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "pid %d holds the lock of %s but is not Cay; look at it before you stop it"
                            .formatted(daemon.pid(), config.stateDir()));
        }
        System.out.println("stopping Cay, pid %d".formatted(daemon.pid()));
        if (Files.isDirectory(config.runDir())) {
            StopRequest.askEndAll(config.runDir());
        }
        daemon.destroy();
        if (!gone(daemon, STOP_LIMIT)) {
            System.out.println("it does not stop and is killed");
            daemon.destroyForcibly();
            gone(daemon, KILL_LIMIT);
        }
        return InstanceLock.take(config.stateDir())
                .orElseThrow(() -> new CayException(
                        ErrorKind.CONFLICT, "another Cay was started on %s meanwhile".formatted(config.stateDir())));
    }

    private static boolean gone(ProcessHandle process, Duration limit) throws InterruptedException {
        try {
            process.onExit().get(limit.toSeconds(), TimeUnit.SECONDS);
            return true;
        } catch (TimeoutException | ExecutionException e) {
            return false;
        }
    }

    private void purge(CayConfig config, List<String> failures) throws IOException {
        LayerStore.forget(config.cacheDir(), config.stateDir());
        StagedState.takeOff(config.stateDir());
        var state = new ArrayList<>(STATE);
        if (Files.isDirectory(config.stateDir())) {
            try (var files = Files.list(config.stateDir())) {
                files.map(file -> file.getFileName().toString())
                        .filter(name -> name.startsWith("cay.db.before-v") || name.startsWith(StagedState.REPLACED))
                        .forEach(state::add);
            }
        }
        delete(config.stateDir(), state, failures);
        if (!othersUseCache(config)) {
            delete(config.cacheDir(), CACHE, failures);
        }
        for (Path key : keys(config)) {
            Files.deleteIfExists(key);
        }
        var file = options.file();
        if (file.isPresent()) {
            Files.deleteIfExists(file.get());
            Path parent = file.get().toAbsolutePath().getParent();
            if (parent != null && parent.equals(Path.of("/etc/cay"))) {
                deleteIfEmpty(parent);
            }
        }
    }

    /// Whether another instance uses the cache, also one that is down.
    private static boolean othersUseCache(CayConfig config) {
        return Root.here() && (claimsOfOthers(config) || othersAreHere(config));
    }

    private static boolean claimsOfOthers(CayConfig config) {
        try {
            return LayerStore.isSharedWithOthers(config.cacheDir(), config.stateDir());
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot read who uses " + config.cacheDir(), e);
        }
    }

    private static boolean othersAreHere(CayConfig config) {
        return HostLedger.ofHost().instances().stream()
                .anyMatch(claim -> !claim.instance().equals(config.instance()));
    }

    private static void delete(Path directory, List<String> names, List<String> failures) throws IOException {
        if (!Files.isDirectory(directory)) {
            return;
        }
        var command = new ArrayList<>(List.of("rm", "-rf", "--one-file-system", "--"));
        names.forEach(name -> command.add(directory.resolve(name).toString()));
        var removed = Programs.ofHost().run(DELETE_LIMIT, "", command);
        if (!removed.ok()) {
            failures.add(removed.output().strip());
        }
        if (!deleteIfEmpty(directory)) {
            System.out.println("%s has files that Cay did not make; they are kept".formatted(directory));
        }
    }

    private static boolean deleteIfEmpty(Path directory) throws IOException {
        try {
            Files.deleteIfExists(directory);
            return true;
        } catch (DirectoryNotEmptyException _) {
            return false;
        }
    }

    private static Set<Path> keys(CayConfig config) {
        var files = new LinkedHashSet<Path>();
        files.add(KeyFile.in(Path.of(System.getProperty("user.home")), config.instance()));
        String caller = System.getenv().getOrDefault("SUDO_USER", "");
        if (caller.matches("[a-zA-Z_][a-zA-Z0-9_.-]{0,63}")) {
            String entry = Programs.ofHost()
                    .run(KILL_LIMIT, "getent", "passwd", caller)
                    .output();
            String[] fields = entry.strip().split(":");
            if (fields.length > 5) {
                files.add(KeyFile.in(Path.of(fields[5]), config.instance()));
            }
        }
        files.removeIf(file -> !Files.exists(file));
        return files;
    }
}
