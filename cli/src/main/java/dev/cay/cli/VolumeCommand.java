package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "volume",
        mixinStandardHelpOptions = true,
        description = "List, make and delete volumes: files that outlive sandboxes. Needs no root.",
        subcommands = {VolumeCommand.ListAll.class, VolumeCommand.Create.class, VolumeCommand.Delete.class},
        footer = {
            "",
            "Examples:",
            "  ./cay volume create datasets --size 2048",
            "  ./cay volume list",
            "  ./cay volume delete datasets"
        })
final class VolumeCommand implements Callable<Integer> {
    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Override
    public Integer call() {
        return list(Api.of(options));
    }

    private static int list(Api api) {
        var all = api.call("GET", "/volumes", null);
        if (all.isEmpty()) {
            System.out.println("no volumes");
        }
        for (JsonNode one : all) {
            String used = one.has("usedMB") ? one.path("usedMB").asLong(0) + " of " : "";
            System.out.println(String.format(
                    Locale.ROOT,
                    "%s %-30s %s%d MB",
                    one.path("volumeID").asString(""),
                    one.path("name").asString(""),
                    used,
                    one.path("sizeMB").asLong(0)));
        }
        return 0;
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "List volumes with what they hold.")
    static final class ListAll implements Callable<Integer> {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Override
        public Integer call() {
            return list(Api.of(options));
        }
    }

    @Command(name = "create", mixinStandardHelpOptions = true, description = "Make an empty volume.")
    static final class Create implements Callable<Integer> {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Parameters(index = "0", paramLabel = "NAME", description = "Letters, digits, '-' and '_'.")
        private String name = "";

        @Option(
                names = "--size",
                paramLabel = "MB",
                description = "How much it may hold (default: storage.volumeSizeMB).")
        private @Nullable Integer size;

        @Override
        public Integer call() {
            var body = new LinkedHashMap<String, Object>();
            body.put("name", name);
            if (size != null) {
                body.put("sizeMB", size);
            }
            var made = Api.of(options).call("POST", "/volumes", body);
            System.out.println("%s is volume %s and may hold %d MB"
                    .formatted(
                            name,
                            made.path("volumeID").asString(""),
                            made.path("sizeMB").asLong(0)));
            return 0;
        }
    }

    @Command(name = "delete", mixinStandardHelpOptions = true, description = "Delete a volume with all files in it.")
    static final class Delete implements Callable<Integer> {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Parameters(index = "0", paramLabel = "NAME", description = "Name or id of the volume.")
        private String name = "";

        @Override
        public Integer call() {
            var api = Api.of(options);
            for (JsonNode one : api.call("GET", "/volumes", null)) {
                String id = one.path("volumeID").asString("");
                if (name.equals(one.path("name").asString("")) || name.equals(id)) {
                    api.call("DELETE", "/volumes/" + id, null);
                    System.out.println(name + " is deleted");
                    return 0;
                }
            }
            throw new CayException(
                    ErrorKind.NOT_FOUND, "there is no volume '%s'; see: cay volume list".formatted(name));
        }
    }
}
