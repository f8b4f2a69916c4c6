package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.cli.local.Root;
import dev.cay.config.CayConfig;
import dev.cay.node.sandbox.SavedNotes;
import dev.cay.node.storage.PoolDevice;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "restore",
        mixinStandardHelpOptions = true,
        description = "Make an installation from a file that `cay backup` wrote. Cay must be down.",
        footer = {
            "",
            "All of the file is read and checked before anything takes its place. The state directory must be empty;",
            "--replace moves the existing installation into replaced-TIME of the state directory. Instance",
            "name, directories, ports, uids and network range are those of the configuration here.",
            "",
            "Restore only what you trust: keys, templates and secrets of the file become this Cay's own.",
            "",
            "Examples:",
            "  sudo ./cay restore /var/backups/cay-monday",
            "  ssh backup@other 'cat cay-monday' | sudo ./cay restore -",
            "  sudo ./cay restore --files-only /var/backups/cay-monday"
        })
final class RestoreCommand implements Callable<Integer> {
    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Parameters(paramLabel = "FILE", description = "What to read; - for standard input.")
    private String file = "";

    @Option(
            names = "--files-only",
            description = "Leave the memory of sandboxes out; they restart on their files. For a machine whose"
                    + " processor, kernel or CRIU is older than that of the backup.")
    private boolean filesOnly;

    @Option(names = "--replace", description = "Put the installation that is here aside.")
    private boolean replace;

    @Override
    public Integer call() {
        Root.require("restore", "to write secrets", options.command("restore " + file));
        var config = options.config();
        Interruptible.run(() -> {
            Files.createDirectories(config.stateDir());
            Files.setPosixFilePermissions(config.stateDir(), PosixFilePermissions.fromString(StateDirectory.PASSABLE));
            try (var _ = whileDown(config);
                    var in = open()) {
                restore(config, in);
            }
            return null;
        });
        return 0;
    }

    private InstanceLock whileDown(CayConfig config) throws IOException {
        return InstanceLock.take(config.stateDir())
                .orElseThrow(() -> new CayException(
                        ErrorKind.CONFLICT, "Cay is running; stop it first: sudo " + options.command("down")));
    }

    private InputStream open() throws IOException {
        if (file.equals("-")) {
            // Not System.in, which Ctrl-C does not interrupt.
            return Channels.newInputStream(new FileInputStream(FileDescriptor.in).getChannel());
        }
        Path path = Path.of(file);
        if (!Files.isReadable(path) || Files.isDirectory(path)) {
            throw new CayException(ErrorKind.NOT_FOUND, "there is no file " + path);
        }
        return Files.newInputStream(path);
    }

    private void restore(CayConfig config, InputStream in) throws IOException {
        var staged = new StagedState(config.stateDir());
        var store = new RestoredStore(config);
        if (staged.settle()) {
            store.end();
            System.err.println("an earlier restore that was interrupted is complete now; start Cay with: sudo "
                    + options.command("up"));
            return;
        }
        var old = requireFree(config, staged);
        try {
            new Restore(config, staged, filesOnly, options.command("restore --files-only " + file)).run(in);
            if (!old.isEmpty()) {
                new PoolDevice(config.stateDir()).takeOff();
            }
            Path aside = staged.complete(old);
            store.end();
            if (!old.isEmpty()) {
                System.err.println(
                        "the installation of before is in %s; delete it when you do not need it".formatted(aside));
            }
        } catch (IOException | RuntimeException e) {
            discard(staged, e);
            throw e;
        }
        System.err.println(
                "restored into %s; start it with: sudo %s".formatted(config.stateDir(), options.command("up")));
    }

    /// Discards the draft of a failed restore, unless files were already moved to their places.
    private static void discard(StagedState staged, Exception failure) {
        boolean interrupted = Thread.interrupted();
        try {
            if (!staged.isComplete()) {
                staged.discard();
            }
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private List<String> requireFree(CayConfig config, StagedState staged) throws IOException {
        var old = staged.inTheWay();
        if (old.isEmpty()) {
            return old;
        }
        if (!replace) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "%s holds an installation (%s); name another stateDir, or put this one aside with --replace"
                            .formatted(config.stateDir(), String.join(", ", old)));
        }
        if (SavedNotes.anyRuns(config.stateDir().resolve("sandboxes"))) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "sandboxes of this Cay still run; start it and pause them, or end them with: sudo "
                            + options.command("down --all"));
        }
        return old;
    }
}
