package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "sandbox",
        mixinStandardHelpOptions = true,
        description = "List sandboxes; pause, resume, copy, save and end them; see what they reach. Needs no root.",
        subcommands = {
            SandboxCommand.ListAll.class,
            SandboxCommand.Pause.class,
            SandboxCommand.Resume.class,
            SandboxCommand.Fork.class,
            SandboxCommand.Snapshot.class,
            SandboxCommand.Rollback.class,
            SandboxEgressCommand.class,
            SandboxCommand.Kill.class
        },
        footer = {
            "",
            "Examples:",
            "  ./cay sandbox list",
            "  ./cay sandbox pause ID",
            "  ./cay sandbox snapshot ID --name before-upgrade",
            "  ./cay sandbox rollback ID before-upgrade",
            "  ./cay sandbox egress ID --as-rules"
        })
final class SandboxCommand extends ListingCommand {
    SandboxCommand() {
        super(SandboxCommand::list);
    }

    private static int list(ConfigOptions options) {
        var all = Api.of(options).all("/v2/sandboxes");
        if (all.isEmpty()) {
            System.out.println("no sandboxes");
        }
        for (JsonNode one : all) {
            boolean runs = text(one, "state").equals("running");
            System.out.println(String.format(
                    Locale.ROOT,
                    "%-22s %-8s %-7s %s%s",
                    text(one, "sandboxID"),
                    text(one, "state"),
                    text(one, "durability"),
                    one.path("alias").asString(text(one, "templateID")),
                    runs ? " until " + text(one, "endAt") : ""));
        }
        return 0;
    }

    private static String text(JsonNode node, String field) {
        return node.path(field).asString("");
    }

    /// What all have in common: one sandbox, and what is said of it afterwards.
    abstract static class OfOne implements Callable<Integer> {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Parameters(index = "0", paramLabel = "ID", description = "Id of the sandbox.")
        String id = "";

        JsonNode post(String what, Map<String, Object> body) {
            return api().call("POST", "/sandboxes/" + id + "/" + what, body);
        }

        Api api() {
            return Api.of(options);
        }
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "List sandboxes, running and paused.")
    static final class ListAll extends ListingCommand {
        ListAll() {
            super(SandboxCommand::list);
        }
    }

    @Command(
            name = "pause",
            mixinStandardHelpOptions = true,
            description =
                    "Stop a sandbox with all that runs in it, and save it: it costs no processor time from then on,"
                            + " and no memory where others need it.")
    static final class Pause extends OfOne {
        @Option(names = "--files-only", description = "Keep its files; what runs is lost.")
        private boolean filesOnly;

        @Option(
                names = "--ack",
                paramLabel = "frozen|saved",
                description = "Return when it is frozen in memory, or when it is saved (default: what pause.ack says).")
        private @Nullable String ack;

        @Override
        public Integer call() {
            var api = ack == null ? api() : api().with("Cay-Pause-Ack", ack);
            api.call("POST", "/sandboxes/" + id + "/pause", Map.of("memory", !filesOnly));
            System.out.println(id + " is paused");
            return 0;
        }
    }

    @Command(name = "resume", mixinStandardHelpOptions = true, description = "Resume a paused sandbox where it was.")
    static final class Resume extends OfOne {
        @Option(names = "--reboot", description = "Restart it on its files, without its memory.")
        private boolean reboot;

        @Option(names = "--timeout", paramLabel = "SECONDS", description = "How long it shall live (default: 300).")
        private int timeout = 300;

        @Override
        public Integer call() {
            post("connect", Map.of("timeout", timeout, "memory", !reboot));
            System.out.println(id + " runs");
            return 0;
        }
    }

    @Command(
            name = "fork",
            mixinStandardHelpOptions = true,
            description = "Make copies of a running sandbox, memory and all; prints their ids.")
    static final class Fork extends OfOne {
        @Option(names = "--count", paramLabel = "N", description = "How many, up to 100 (default: 1).")
        private int count = 1;

        @Option(names = "--timeout", paramLabel = "SECONDS", description = "How long they shall live (default: 300).")
        private int timeout = 300;

        @Override
        public Integer call() {
            int failed = 0;
            for (JsonNode each : post("fork", Map.of("count", count, "timeout", timeout))) {
                if (each.has("sandbox")) {
                    System.out.println(text(each.path("sandbox"), "sandboxID"));
                } else {
                    failed++;
                    System.err.println("cay: " + text(each.path("error"), "message"));
                }
            }
            return failed == 0 ? 0 : 1;
        }
    }

    @Command(
            name = "snapshot",
            mixinStandardHelpOptions = true,
            description =
                    "Save a running sandbox, which continues; prints the name to create others from, or to roll back to.")
    static final class Snapshot extends OfOne {
        @Option(names = "--name", paramLabel = "NAME", description = "A name for it; one that exists is replaced.")
        private @Nullable String name;

        @Override
        public Integer call() {
            var body = new LinkedHashMap<String, Object>();
            if (name != null) {
                body.put("name", name);
            }
            System.out.println(text(post("snapshots", body), "snapshotID"));
            return 0;
        }
    }

    @Command(
            name = "rollback",
            mixinStandardHelpOptions = true,
            description = "Put a sandbox, running or paused, back to one of its snapshots.")
    static final class Rollback extends OfOne {
        @Parameters(index = "1", paramLabel = "SNAPSHOT", description = "Id or name of a snapshot made from it.")
        private String snapshot = "";

        @Override
        public Integer call() {
            post("rollback", Map.of("snapshotID", snapshot));
            System.out.println(id + " is back at " + snapshot);
            return 0;
        }
    }

    @Command(
            name = "kill",
            mixinStandardHelpOptions = true,
            description = "End a sandbox, running or paused, with all that was saved of it.")
    static final class Kill extends OfOne {
        @Override
        public Integer call() {
            api().call("DELETE", "/sandboxes/" + id, null);
            System.out.println(id + " is gone");
            return 0;
        }
    }
}
