package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.cli.local.Root;
import dev.cay.node.runtime.GuestProgram;
import dev.cay.node.storage.PoolDevice;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(
        name = "pool",
        mixinStandardHelpOptions = true,
        description = "Show how full the disk of all sandboxes is, and what fills it; or make it larger.",
        subcommands = PoolCommand.Grow.class,
        footer = {
            "",
            "New sandboxes are refused while less than a twentieth of the pool, or 1 GB, is free.",
            "",
            "Examples:",
            "  sudo ./cay pool",
            "  sudo ./cay pool grow 40GB"
        })
final class PoolCommand implements Callable<Integer> {
    private static final int TOP = 10;
    private static final double MIB = 1 << 20;

    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Override
    public Integer call() throws IOException {
        Path stateDir = options.config().stateDir();
        Root.require("pool", "to look at sandboxes' disks", options.command("pool"));
        var report = new PoolDevice(stateDir).report(GuestProgram.install(stateDir.resolve("guest")));
        say("pool", report.file() == null ? "a directory of the disk of " + stateDir : String.valueOf(report.file()));
        say("size", size(report.size()));
        if (!report.mounted()) {
            say("state", "not mounted, as Cay is down and no sandbox runs");
        } else {
            say("used", size(Math.max(0, report.size() - report.free() - report.heldBack())));
            say("free", size(report.free()));
            say("kept", size(report.heldBack()) + " for sandboxes that are paused when they time out");
        }
        say("disk", size(Files.getFileStore(stateDir).getUsableSpace()) + " free beside it");
        list("sandboxes", report.sandboxes());
        list("volumes", report.volumes());
        return 0;
    }

    private static void list(String what, Map<?, Long> held) {
        if (held.isEmpty()) {
            return;
        }
        long all = held.values().stream().mapToLong(bytes -> bytes).sum();
        System.out.println("what %s hold, %s in all, largest first:".formatted(what, size(all)));
        held.entrySet().stream()
                .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
                .limit(TOP)
                .forEach(entry -> System.out.println(
                        String.format(Locale.ROOT, "  %-22s %s", entry.getKey(), size(entry.getValue()))));
    }

    private static void say(String what, String value) {
        System.out.println(String.format(Locale.ROOT, "%-6s %s", what, value));
    }

    static String size(long bytes) {
        double megabytes = bytes / MIB;
        return megabytes < 1024
                ? String.format(Locale.ROOT, "%.0f MB", megabytes)
                : String.format(Locale.ROOT, "%.1f GB", megabytes / 1024);
    }

    @Command(
            name = "grow",
            mixinStandardHelpOptions = true,
            description = "Make the pool larger, while Cay and sandboxes run or not. It cannot be made smaller again.",
            footer = {"", "Examples:", "  sudo ./cay pool grow 40GB", "  sudo ./cay pool grow +10GB"})
    static final class Grow implements Callable<Integer> {
        private static final Pattern SIZE = Pattern.compile("(\\+?)(\\d{1,9})\\s*(MB|GB|TB)");

        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Parameters(paramLabel = "SIZE", description = "New size like 40GB, or +10GB for so much more.")
        private String size = "";

        @Override
        public Integer call() {
            Path stateDir = options.config().stateDir();
            Root.require("pool grow", "to change sandboxes' disk", options.command("pool grow " + size));
            var guest = GuestProgram.install(stateDir.resolve("guest"));
            var pool = new PoolDevice(stateDir);
            long before = pool.report(guest).size();
            long wanted = bytes(size, before);
            System.out.println("reserving " + PoolCommand.size(Math.max(0, wanted - before)) + " more");
            pool.grow(wanted);
            System.out.println("the pool has %s now; it had %s"
                    .formatted(PoolCommand.size(pool.report(guest).size()), PoolCommand.size(before)));
            return 0;
        }

        static long bytes(String text, long before) {
            var parts = SIZE.matcher(text.strip().toUpperCase(Locale.ROOT));
            if (!parts.matches()) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT, "SIZE must be like 40GB or +10GB, not \"%s\"".formatted(text));
            }
            int shift = switch (parts.group(3)) {
                case "MB" -> 20;
                case "GB" -> 30;
                default -> 40;
            };
            long bytes = Long.parseLong(parts.group(2)) << shift;
            return parts.group(1).isEmpty() ? bytes : before + bytes;
        }
    }
}
