package dev.cay.cli;

import dev.cay.cli.doctor.DoctorCommand;
import dev.cay.cli.local.ConfigOptions;
import dev.cay.cli.local.KeyFile;
import dev.cay.cli.local.Root;
import dev.cay.config.CayConfig;
import dev.cay.node.host.HostPlan;
import dev.cay.node.host.Programs;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "support",
        mixinStandardHelpOptions = true,
        description =
                "Write a file with all that helps to find a fault: settings, versions, logs, what is on the host.",
        footer = {
            "",
            "Keys, tokens, passwords, environment variables and files of sandboxes are not in it; read it before you",
            "send it. Nothing is sent, and nothing is changed.",
            "",
            "Examples:",
            "  sudo ./cay support",
            "  sudo ./cay support --output /tmp/cay.tar.gz"
        })
final class SupportCommand implements Callable<Integer> {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final int LOG_BYTES = 2 << 20;
    private static final DateTimeFormatter STAMP =
            DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss").withZone(ZoneOffset.UTC);

    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Option(
            names = "--output",
            paramLabel = "FILE",
            description = "Where to write it (default: cay-support-TIME.tar.gz here).")
    private @Nullable Path output;

    private final Programs programs = Programs.ofHost();

    @Override
    public Integer call() throws IOException {
        var loaded = options.load(Map.of());
        CayConfig config = loaded.config();
        Root.require("support", "to look at logs and sandboxes", options.command("support"));
        Path file = output != null ? output : Path.of("cay-support-%s.tar.gz".formatted(STAMP.format(Instant.now())));
        Path directory = Files.createTempDirectory("cay-support-");
        try {
            var redaction = new Redaction(secrets(config));
            write(directory, "versions.txt", versions(), redaction);
            write(directory, "doctor.txt", String.join("\n", DoctorCommand.report(config, options)), redaction);
            write(
                    directory,
                    "config.txt",
                    loaded.settings().stream().map(ConfigCommand::describe).collect(Collectors.joining("\n")),
                    redaction);
            write(directory, "host.txt", host(config), redaction);
            write(directory, "firewall.txt", firewall(config), redaction);
            write(directory, "sandboxes.txt", sandboxes(config), redaction);
            logs(config, directory, redaction);
            pack(directory, file);
        } finally {
            programs.run(LIMIT, "rm", "-rf", "--", directory.toString());
        }
        System.out.println("written to %s; read it before you send it".formatted(file.toAbsolutePath()));
        return 0;
    }

    /// Values that must never be in the archive.
    private static List<String> secrets(CayConfig config) throws IOException {
        var secrets = new ArrayList<String>();
        KeyFile.read(Path.of(System.getProperty("user.home")), config.instance())
                .ifPresent(secrets::add);
        System.getenv().forEach((name, value) -> {
            if (name.matches("(?i).*(proxy|key|token|secret|password).*")) {
                secrets.add(value);
            }
        });
        return secrets;
    }

    private String versions() {
        return String.join(
                "\n",
                new VersionCommand().getVersion()[0],
                new VersionCommand().getVersion()[1],
                said("uname", "-srm"),
                said("cat", "/etc/os-release"),
                said("runc", "--version"),
                said("criu", "--version"),
                said("btrfs", "--version"),
                said("nft", "--version"),
                said("ip", "-V"),
                said("nproc"),
                said("head", "-n", "5", "/proc/meminfo"),
                said("cat", "/proc/loadavg", "/proc/uptime"));
    }

    /// The host resources that Cay uses, or could have left; of other programs only those that affect Cay.
    private String host(CayConfig config) {
        return String.join(
                "\n\n",
                titled(
                        "mounts",
                        matching(
                                said("cat", "/proc/mounts"),
                                "cay|" + Pattern.quote(config.stateDir().toString()))),
                titled("links", said("ip", "-o", "link")),
                titled("addresses of lo", said("ip", "-o", "-4", "address", "show", "dev", "lo")),
                titled("routes", said("ip", "-4", "route")),
                titled("loop devices", said("losetup", "--list", "--output", "NAME,BACK-FILE")),
                titled("cgroups", said("find", "/sys/fs/cgroup", "-maxdepth", "5", "-type", "d", "-name", "cay*")),
                titled(
                        "processes",
                        matching(said("ps", "-eo", "pid,ppid,stat,rss,etimes,comm"), "cay-|java|runc|criu")),
                titled(
                        "kernel settings",
                        said(
                                "sysctl",
                                "net.ipv4.ip_forward",
                                "fs.inotify.max_user_instances",
                                "fs.inotify.max_user_watches",
                                "kernel.pid_max",
                                "fs.file-max",
                                "kernel.pty.max",
                                "net.ipv4.neigh.default.gc_thresh3",
                                "net.netfilter.nf_conntrack_max")),
                titled("all Cays of this host", said("cat", "/run/cay-host/host.json")),
                titled(
                        "disk",
                        said(
                                "df",
                                "-h",
                                config.stateDir().toString(),
                                config.cacheDir().toString())),
                titled("state directory", said("ls", "-la", config.stateDir().toString())));
    }

    private String firewall(CayConfig config) {
        var plan = new HostPlan(
                config.instance(), config.storage().uidBase(), config.network().range());
        return titled("tables", said("nft", "list", "tables")) + "\n\n"
                + said("nft", "list", "table", "inet", plan.firewallTable());
    }

    private String sandboxes(CayConfig config) {
        return titled(
                        "runc",
                        said("runc", "--root", config.runDir().resolve("runc").toString(), "list"))
                + "\n\n"
                + titled(
                        "bundles",
                        said("ls", "-l", config.runDir().resolve("bundles").toString()))
                + "\n\n"
                + titled(
                        "disks",
                        said(
                                "ls",
                                "-l",
                                config.stateDir().resolve("pool/sandboxes").toString()));
    }

    /// The ends of logs. What the daemon printed at its start holds its first key, and is not needed.
    private static void logs(CayConfig config, Path directory, Redaction redaction) throws IOException {
        for (String name : List.of("cay.log", "base-template.log")) {
            Path log = DaemonLog.directory(config.stateDir()).resolve(name);
            if (Files.exists(log)) {
                try (var channel = Files.newByteChannel(log)) {
                    channel.position(Math.max(0, channel.size() - LOG_BYTES));
                    var bytes = ByteBuffer.allocate(LOG_BYTES);
                    while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
                        // Reads to the end, or to the limit.
                    }
                    write(
                            directory,
                            name,
                            new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8),
                            redaction);
                }
            }
        }
    }

    private String said(String... command) {
        try {
            return programs.run(LIMIT, command).output().strip();
        } catch (CayException e) {
            return e.userMessage();
        }
    }

    private static String titled(String title, String text) {
        return "== " + title + "\n" + text;
    }

    private static String matching(String text, String pattern) {
        var wanted = Pattern.compile(pattern);
        return text.lines().filter(line -> wanted.matcher(line).find()).collect(Collectors.joining("\n"));
    }

    private static void write(Path directory, String name, String text, Redaction redaction) throws IOException {
        Files.writeString(directory.resolve(name), redaction.apply(text) + "\n");
    }

    private void pack(Path directory, Path file) throws IOException {
        Files.deleteIfExists(file);
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        var packed =
                programs.run(LIMIT, "tar", "-czf", file.toAbsolutePath().toString(), "-C", directory.toString(), ".");
        if (!packed.ok()) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "%s cannot be written: %s".formatted(file, packed.output().strip()));
        }
    }
}
