package dev.cay.cli;

import dev.cay.server.audit.AuditChain;
import dev.cay.server.audit.AuditExports;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "audit",
        mixinStandardHelpOptions = true,
        description = "See who did what to which sandbox or setting. Root sees all teams, other users their own.",
        subcommands = {
            AuditCommand.ListEntries.class,
            AuditCommand.Head.class,
            AuditCommand.Verify.class,
            AuditCommand.Export.class
        },
        footer = {
            "",
            "Examples:",
            "  sudo ./cay audit list --since 24h --action key",
            "  sudo ./cay audit list -f",
            "  sudo ./cay audit verify --head 4711:9f86d0...",
            "  sudo ./cay audit export audit.jsonl"
        })
final class AuditCommand implements Callable<Integer> {
    private static final int PORTION = 1000;
    private static final Duration POLL = Duration.ofSeconds(1);

    @Mixin
    private AuditOptions options = new AuditOptions();

    @Override
    public Integer call() throws InterruptedException {
        return new ListEntries().list(options);
    }

    private static String text(JsonNode entry, String field) {
        return entry.path(field).asString("");
    }

    private static long sequence(JsonNode entry) {
        return entry.path("sequence").asLong(0);
    }

    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            description =
                    "List the newest entries, oldest first: number, time, actor, address, action, result, what about.")
    static final class ListEntries implements Callable<Integer> {
        @Mixin
        private AuditOptions options = new AuditOptions();

        @Option(names = "--limit", paramLabel = "COUNT", description = "How many, up to 1000 (default: 50).")
        private int limit = 50;

        @Option(
                names = {"-f", "--follow"},
                description = "Go on with what is added; Ctrl-C ends it.")
        private boolean follow;

        @Option(names = "--json", description = "Print lines of JSON, as they are in the chain.")
        private boolean json;

        @Override
        public Integer call() throws InterruptedException {
            return list(options);
        }

        int list(AuditOptions which) throws InterruptedException {
            var api = which.api();
            var newest = new ArrayList<JsonNode>();
            which.page(api, Map.of("limit", Integer.toString(limit))).forEach(newest::add);
            long last = 0;
            for (var entry : newest.reversed()) {
                print(entry);
                last = sequence(entry);
            }
            while (follow) {
                Thread.sleep(POLL);
                for (var entry : which.page(api, Map.of("after", Long.toString(last)))) {
                    print(entry);
                    last = sequence(entry);
                }
            }
            return 0;
        }

        private void print(JsonNode entry) {
            if (json) {
                System.out.println(entry);
                return;
            }
            var about = new ArrayList<String>();
            for (String field :
                    List.of("sandbox", "template", "build", "key", "webhook", "team", "reason", "requests")) {
                if (entry.has(field)) {
                    about.add(field + "=" + text(entry, field));
                }
            }
            System.out.println(String.format(
                    Locale.ROOT,
                    "%6d %s %s %s %s %s %s %s",
                    sequence(entry),
                    text(entry, "time"),
                    text(entry, "actor"),
                    entry.has("address") ? text(entry, "address") : "-",
                    text(entry, "action"),
                    text(entry, "result"),
                    entry.has("status") ? text(entry, "status") : "-",
                    String.join(" ", about)));
        }
    }

    @Command(
            name = "head",
            mixinStandardHelpOptions = true,
            description = "Print number and hash of the newest entry, to be kept elsewhere. Needs root.")
    static final class Head implements Callable<Integer> {
        @Mixin
        private AuditOptions options = new AuditOptions();

        @Override
        public Integer call() {
            var head = options.operator().call("GET", "/admin/audit/head", null);
            System.out.println("%d:%s".formatted(sequence(head), text(head, "hash")));
            return 0;
        }
    }

    @Command(
            name = "verify",
            mixinStandardHelpOptions = true,
            description =
                    "Check that no entry was changed, removed or moved. Exits with 1 and names the first wrong one.",
            footer = {
                "",
                "Who can write to the database can make a new chain. Compare with a head that was kept elsewhere:",
                "  sudo ./cay audit verify --head 4711:9f86d0..."
            })
    static final class Verify implements Callable<Integer> {
        private static final Pattern HEAD = Pattern.compile("(\\d{1,18}):([0-9a-f]{64})");

        @Mixin
        private AuditOptions options = new AuditOptions();

        @Option(names = "--head", paramLabel = "HEAD", description = "What `cay audit head` printed earlier.")
        private @Nullable String head;

        @Option(names = "--file", paramLabel = "FILE", description = "Check an exported file instead; needs no daemon.")
        private @Nullable Path file;

        @Override
        public Integer call() throws IOException {
            return file == null ? verifyDaemon() : new AuditFile(file, head == null ? null : parsed(head)).verify();
        }

        private static AuditFile.Head parsed(String kept) {
            var parts = HEAD.matcher(kept);
            if (!parts.matches()) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT, "--head must be a number, a colon and 64 hexadecimal digits");
            }
            return new AuditFile.Head(Long.parseLong(parts.group(1)), parts.group(2));
        }

        private int verifyDaemon() {
            var found = options.operator().call("GET", "/admin/audit/verification", null);
            if (found.has("wrong")) {
                System.out.println(
                        "entry %d is wrong: %s".formatted(found.path("wrong").asLong(0), text(found, "problem")));
                return 1;
            }
            String wrong = head == null ? null : compare(head);
            if (wrong != null) {
                System.out.println(wrong);
                return 1;
            }
            long removed = found.path("removed").asLong(0);
            System.out.println("%d entries are right%s; head %d:%s"
                    .formatted(
                            found.path("entries").asLong(0),
                            removed == 0 ? "" : ", those up to %d were removed because of their age".formatted(removed),
                            found.path("headSequence").asLong(0),
                            text(found, "headHash")));
            return 0;
        }

        private @Nullable String compare(String kept) {
            var wanted = parsed(kept);
            long number = wanted.sequence();
            var entries = options.operator()
                    .call("GET", "/admin/audit?limit=1&after=%d".formatted(Math.max(0, number - 1)), null);
            var entry = entries.path(0);
            if (sequence(entry) > number) {
                return "entry %d was removed because of its age; it cannot be compared".formatted(number);
            }
            return sequence(entry) == number && text(entry, "hash").equals(wanted.hash())
                    ? null
                    : "entry %d is wrong: it is not the one that was kept".formatted(number);
        }
    }

    @Command(
            name = "export",
            mixinStandardHelpOptions = true,
            description =
                    "Copy entries as lines of JSON, oldest first. The settings audit.file and audit.syslog do this all the time.",
            footer = {
                "",
                "Examples:",
                "  sudo ./cay audit export audit.jsonl --since 30d",
                "  sudo ./cay audit export - | gzip > audit.jsonl.gz",
                "  sudo ./cay audit export --syslog /dev/log"
            })
    static final class Export implements Callable<Integer> {
        @Mixin
        private AuditOptions options = new AuditOptions();

        @Parameters(arity = "0..1", paramLabel = "FILE", description = "A new file, or - for standard output.")
        private @Nullable String file;

        @Option(names = "--syslog", paramLabel = "WHERE", description = "/dev/log, or udp://HOST:PORT.")
        private @Nullable String syslog;

        @Override
        public Integer call() throws IOException, InterruptedException {
            if ((file == null) == (syslog == null)) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT, "name a file, or - for standard output, or --syslog");
            }
            if (syslog != null) {
                String where = syslog;
                System.err.println(copy(links -> AuditExports.sendToSyslog(where, links)) + " entries sent");
                return 0;
            }
            if ("-".equals(file)) {
                copy(links -> write(System.out, links));
                return 0;
            }
            var options = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
            var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
            try (var channel = Files.newByteChannel(Path.of(String.valueOf(file)), options, mode);
                    var out = new PrintStream(
                            java.nio.channels.Channels.newOutputStream(channel), false, StandardCharsets.UTF_8)) {
                System.err.println(copy(links -> write(out, links)) + " entries written");
            }
            return 0;
        }

        private interface Target {
            void write(List<AuditChain.Link> links) throws IOException, InterruptedException;
        }

        private long copy(Target target) throws IOException, InterruptedException {
            var api = options.api();
            long last = 0;
            long count = 0;
            while (true) {
                var page = options.page(api, Map.of("after", Long.toString(last), "limit", Integer.toString(PORTION)));
                var links = StreamSupport.stream(page.spliterator(), false)
                        .map(entry -> AuditChain.Link.parse(entry.toString()).orElseThrow())
                        .toList();
                if (links.isEmpty()) {
                    return count;
                }
                target.write(links);
                count += links.size();
                last = links.getLast().sequence();
            }
        }

        private static void write(PrintStream out, List<AuditChain.Link> links) throws IOException {
            links.forEach(link -> out.println(link.line()));
            if (out.checkError()) {
                throw new IOException("the entries cannot be written");
            }
        }
    }
}
