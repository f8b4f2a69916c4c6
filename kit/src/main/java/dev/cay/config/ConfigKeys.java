package dev.cay.config;

import static dev.cay.config.ConfigKey.key;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// The table of keys. A new key is one line here and one in {@link ConfigLoader}'s assembly.
public final class ConfigKeys {
    private static final int MB_PER_TB = 1024 * 1024;
    private static final Duration DAY = Duration.ofDays(1);

    static final ConfigKey<String> INSTANCE = key(
            "instance",
            ConfigValue.matching("[a-z0-9]{1,7}", "one to seven lower-case letters or digits"),
            "0",
            "Names this daemon among several on one host: its nft table, interfaces and cgroup.");
    static final ConfigKey<Path> STATE_DIR =
            key("stateDir", ConfigValue.path(), "/var/lib/cay", "Database, pool, certificates and logs.");
    static final ConfigKey<Path> RUN_DIR =
            key("runDir", ConfigValue.path(), "/run/cay", "What does not outlive a reboot.");
    static final ConfigKey<Path> CACHE_DIR = key(
            "cacheDir",
            ConfigValue.path(),
            "/var/cache/cay",
            "Fetched and built artefacts, shared by all daemons of this host; may be deleted when none runs.");

    static final ConfigKey<List<String>> LISTEN = key(
            "http.listen",
            ConfigValue.nonEmptyList(ConfigValue.address(), "at least one IP address"),
            "127.0.0.1, ::1",
            "Addresses to listen on. Only this machine can connect unless you name others; 0.0.0.0 means all.");
    static final ConfigKey<Integer> PORT =
            key("http.port", ConfigValue.number(1, 65_535), "3000", "Port of plain HTTP: API and sandbox traffic.");
    static final ConfigKey<Integer> TLS_PORT =
            key("http.tlsPort", ConfigValue.number(1, 65_535), "8443", "Port of TLS: the same, by host names.");
    static final ConfigKey<String> DOMAIN = key(
            "http.domain",
            ConfigValue.matching(
                    "(?=.{1,180}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*",
                    "a lower-case domain name without a port, like sandboxes.example.org"),
            "cay.localhost",
            "What sandboxes' host names end in: PORT-SANDBOX.DOMAIN. *.DOMAIN must resolve to this machine.");
    static final ConfigKey<Optional<Path>> CERTIFICATE = key(
            "http.certificate",
            ConfigValue.optional(ConfigValue.path()),
            "",
            "PEM file with the certificate chain for DOMAIN and *.DOMAIN; unset, Cay signs its own.");
    static final ConfigKey<Optional<Path>> CERTIFICATE_KEY = key(
            "http.key",
            ConfigValue.optional(ConfigValue.path()),
            "",
            "PEM file with the private key that belongs to http.certificate.");
    static final ConfigKey<List<String>> TRUSTED_PROXIES = key(
            "http.trustedProxies",
            ConfigValue.list(ConfigValue.network()),
            "",
            "Addresses and ranges of your reverse proxies; only from these is the header X-Forwarded-For believed.");

    static final ConfigKey<Integer> CPU_COUNT =
            key("sandboxes.cpuCount", ConfigValue.number(1, 1024), "2", "CPUs of a sandbox whose template says none.");
    static final ConfigKey<Integer> MEMORY_MB = key(
            "sandboxes.memoryMB",
            ConfigValue.megabytes(128, 16 * MB_PER_TB),
            "512MB",
            "Memory of a sandbox whose template says none.");
    static final ConfigKey<Integer> DISK_SIZE_MB = key(
            "sandboxes.diskSizeMB",
            ConfigValue.megabytes(64, 16 * MB_PER_TB),
            "10GB",
            "How much a sandbox may write on top of its template.");
    static final ConfigKey<Integer> MAX_PROCESSES = key(
            "sandboxes.maxProcesses",
            ConfigValue.number(16, 1_000_000),
            "1024",
            "Most processes and threads in one sandbox.");
    static final ConfigKey<Integer> SPARES = key(
            "sandboxes.spares",
            ConfigValue.number(0, 1000),
            "32",
            "Most sandboxes of one template that are started before anybody asks; how many are follows demand.");
    static final ConfigKey<Duration> TIMEOUT = key(
            "sandboxes.timeout",
            ConfigValue.duration(Duration.ofSeconds(1), DAY.multipliedBy(365)),
            "5m",
            "How long a sandbox lives when its creator says nothing.");
    static final ConfigKey<Duration> MAX_TIMEOUT = key(
            "sandboxes.maxTimeout",
            ConfigValue.duration(Duration.ofSeconds(1), DAY.multipliedBy(365)),
            "24h",
            "The longest life a creator may ask for.");
    static final ConfigKey<Optional<Duration>> KEEP_PAUSED = key(
            "sandboxes.keepPaused",
            ConfigValue.unless("never", ConfigValue.duration(Duration.ofMinutes(1), DAY.multipliedBy(3650))),
            "30d",
            "How long a paused sandbox is kept before it is killed; never means that it is kept for ever.");
    static final ConfigKey<String> PAUSE_AT_STOP = key(
            "sandboxes.pauseAtStop",
            ConfigValue.matching("never|reboot|always", "it must be never, reboot or always"),
            "reboot",
            "When Cay is stopped, sandboxes that are paused on timeout are paused: never, before a reboot, or always.");
    static final ConfigKey<String> PAUSE_ACK = key(
            "pause.ack",
            ConfigValue.matching("frozen|saved", "it must be frozen or saved"),
            "frozen",
            "When a pause is answered: once the sandbox is frozen in memory, or once it is saved on the disk.");
    static final ConfigKey<Optional<Integer>> PAUSE_FROZEN_MEMORY = key(
            "pause.frozenMemoryMB",
            ConfigValue.unless("auto", ConfigValue.megabytes(0, 64 << 20)),
            "auto",
            "Memory in which paused sandboxes stay frozen after they are saved, so that they resume at once; auto is a quarter of the machine's.");
    static final ConfigKey<Long> PROCESS_LOG_BYTES = key(
            "sandboxes.processLogBytes",
            ConfigValue.bytes(4096, 1L << 30),
            "1MB",
            "How much output of one process is kept to be read again.");
    static final ConfigKey<Optional<Boolean>> LAZY_MEMORY = key(
            "sandboxes.lazyMemory",
            ConfigValue.unless("auto", ConfigValue.yesOrNo()),
            "auto",
            "Whether a restored sandbox runs at once and its memory is restored while it runs; auto does so where the kernel can.");
    static final ConfigKey<List<String>> FUSE_TEMPLATES = key(
            "sandboxes.fuseTemplates",
            ConfigValue.list(ConfigValue.matching("[a-z0-9][a-z0-9_-]*", "ids of templates, like base")),
            "",
            "Ids of templates whose sandboxes may mount FUSE file systems that programs in them serve.");

    static final ConfigKey<Integer> POOL_SIZE_MB = key(
            "storage.poolSizeMB",
            ConfigValue.megabytes(1024, 1024 * MB_PER_TB),
            "20GB",
            "Size of the pool file made when stateDir is not on btrfs; never more than half of the free space.");
    static final ConfigKey<Integer> VOLUME_SIZE_MB = key(
            "storage.volumeSizeMB",
            ConfigValue.megabytes(1, 1024 * MB_PER_TB),
            "10GB",
            "How much a volume may hold at most, and does if its creator does not say.");
    static final ConfigKey<Integer> UID_BASE = key(
            "storage.uidBase",
            ConfigValue.number(65_536, 2_000_000_000),
            "1000000000",
            "First host uid given to sandboxes, 65536 each; nothing else on the host may use them.");

    static final ConfigKey<Optional<String>> STORE_URL = key(
            "store.url",
            ConfigValue.optional(ConfigValue.matching(
                    "postgres(ql)?://[^\\s]+", "like postgresql://cay@db.example.org/cay?sslmode=verify-full")),
            "",
            "A PostgreSQL database for records; unset, they are in the file cay.db of stateDir.");
    static final ConfigKey<Optional<Path>> STORE_PASSWORD_FILE = key(
            "store.passwordFile",
            ConfigValue.optional(ConfigValue.path()),
            "",
            "File with the password of the database's user, readable for root only.");
    static final ConfigKey<Integer> STORE_CONNECTIONS = key(
            "store.connections",
            ConfigValue.number(2, 200),
            "8",
            "Most connections to the PostgreSQL database at a time.");

    static final ConfigKey<String> RANGE = key(
            "network.range",
            ConfigValue.range(12, 24),
            "10.200.0.0/16",
            "IPv4 range of the sandboxes' outer addresses; must not overlap a network the host uses.");
    static final ConfigKey<List<String>> NAMESERVERS = key(
            "network.nameservers",
            ConfigValue.list(ConfigValue.address()),
            "",
            "Where DNS questions of sandboxes go; unset means wherever the host's go.");
    static final ConfigKey<Boolean> TRUST_HOST_CERTIFICATES = key(
            "network.trustHostCertificates",
            ConfigValue.yesOrNo(),
            "true",
            "Whether CA certificates you added to the host are trusted inside sandboxes.");
    static final ConfigKey<Integer> MAX_CONNECTIONS = key(
            "network.maxConnections",
            ConfigValue.number(16, 1_000_000),
            "4096",
            "Connections of one sandbox to the world at a time; a sixteenth of them may be new each second.");
    static final ConfigKey<Integer> BANDWIDTH = key(
            "network.bandwidthMbit",
            ConfigValue.number(0, 30_000),
            "0",
            "Megabits a second that one sandbox may send to the world, and as many to receive; 0 means no limit.");

    static final ConfigKey<List<String>> OPEN_ADDRESSES = key(
            "network.openAddresses",
            ConfigValue.list(ConfigValue.openAddress()),
            "",
            "Places in your own network that all sandboxes may connect to, as address:port, like a package mirror.");
    static final ConfigKey<List<String>> EGRESS_ALLOW = key(
            "network.egress.allow",
            ConfigValue.list(ConfigValue.addresses()),
            "",
            "Addresses and ranges that sandboxes may reach at all, whatever their own rules say; unset means all.");
    static final ConfigKey<List<String>> EGRESS_DENY = key(
            "network.egress.deny",
            ConfigValue.list(ConfigValue.addresses()),
            "",
            "Addresses and ranges that no sandbox reaches, whatever its own rules say.");
    static final ConfigKey<List<String>> EGRESS_NAMES = key(
            "network.egress.names",
            ConfigValue.list(ConfigValue.matching(
                    "(\\*\\.)?([a-z0-9_]([a-z0-9_-]{0,62})\\.)*[a-z_][a-z0-9_-]{0,62}",
                    "host names in small letters, like example.org or *.example.org")),
            "",
            "Host names that sandboxes may look up at all, whatever their own rules say; unset means all.");

    static final ConfigKey<List<String>> PREPARE = key(
            "templates.prepare",
            ConfigValue.list(ConfigValue.matching(
                    "code-interpreter-v1|code-interpreter-lite|mcp-gateway",
                    "code-interpreter-v1, code-interpreter-lite or mcp-gateway")),
            "code-interpreter-v1",
            "Templates made in the background at the first start and kept warm; others are made on first use.");

    static final ConfigKey<List<String>> IMAGES = key(
            "templates.images",
            ConfigValue.list(ConfigValue.matching("[^=\\s]+=[a-z0-9_-]+", "like debian:*=base")),
            "",
            "Images that mean a template in builds, as image=template; * matches anything.");
    static final ConfigKey<Integer> BUILDS_PER_TEAM = key(
            "templates.maxBuilds",
            ConfigValue.number(1, 1000),
            "20",
            "Most builds of one team that are under way at a time.");
    static final ConfigKey<Integer> MAX_UPLOAD_MB = key(
            "templates.maxUploadMB",
            ConfigValue.megabytes(1, MB_PER_TB),
            "2GB",
            "Most that the files of one COPY may have, as they are sent.");
    static final ConfigKey<Optional<Duration>> KEEP_UNUSED = key(
            "templates.keepUnused",
            ConfigValue.unless("never", ConfigValue.duration(Duration.ofHours(1), DAY.multipliedBy(3650))),
            "30d",
            "How long layers and uploads that nothing refers to stay after their last use; never removes none.");

    static final ConfigKey<List<String>> REGISTRIES = key(
            "images.registries",
            ConfigValue.list(
                    ConfigValue.matching("https?://[a-zA-Z0-9.-]+(:[0-9]{1,5})?", "like http://registry.example:5000")),
            "",
            "Registries in your own network that builds may use; those with http:// are spoken to without TLS.");
    static final ConfigKey<List<String>> MIRRORS = key(
            "images.mirrors",
            ConfigValue.list(ConfigValue.matching(
                    "[a-zA-Z0-9.:-]+=https?://[^\\s,=]+", "like docker.io=https://mirror.example.org")),
            "",
            "Where images of a registry are looked for first, as registry=address.");
    static final ConfigKey<Boolean> MIRRORS_ONLY = key(
            "images.mirrorsOnly",
            ConfigValue.yesOrNo(),
            "false",
            "Whether images come from mirrors alone, and no registry is ever asked.");

    static final ConfigKey<List<Path>> MCP_CATALOGS = key(
            "mcp.catalogs",
            ConfigValue.list(ConfigValue.path()),
            "",
            "Files with MCP servers of your own; later ones win. How servers are started is said in section mcp.servers.");

    static final ConfigKey<String> MCP_REPOSITORIES = key(
            "mcp.repositories",
            ConfigValue.matching(
                    "https?://[A-Za-z0-9.:-]+/([A-Za-z0-9._~/-]*/)?", "an http address that ends in a slash"),
            "https://github.com/",
            "Where MCP servers are cloned from that users bring themselves, as github/OWNER/NAME.");

    static final ConfigKey<List<String>> MCP_REPOSITORY_TOKENS = key(
            "mcp.repositoryTokens",
            ConfigValue.list(ConfigValue.matching(
                    "github/[A-Za-z0-9_.-]+/([A-Za-z0-9_.-]+|\\*)(@[^=@\\s]+)?=/\\S+",
                    "like github/acme/*=/etc/cay/acme.token, or github/acme/tools@TEAM=/etc/cay/acme.token")),
            "",
            "Files with tokens for private repositories of MCP servers: github/OWNER/NAME=FILE, or NAME@TEAM for one team.");

    static final ConfigKey<List<String>> MCP_REMOTE_ADDRESSES = key(
            "mcp.remoteAddresses",
            ConfigValue.list(ConfigValue.destination()),
            "",
            "Hosts, *.domains and ranges that remote MCP servers may lie at though not public, also by plain http.");

    static final ConfigKey<String> MCP_META_TOOLS = key(
            "mcp.metaTools",
            ConfigValue.matching("off|on|only", "off, on or only"),
            "off",
            "Tools to find, add, remove and call MCP servers, for gateways whose user does not choose: off, on, or only.");

    static final ConfigKey<Integer> MCP_MEMORY_MB = key(
            "mcp.memoryMB",
            ConfigValue.megabytes(64, 16 * MB_PER_TB),
            "1024MB",
            "Memory of all MCP servers of one sandbox together, beside the sandbox's own; they share its CPUs.");

    static final ConfigKey<Integer> MCP_MAX_SERVERS = key(
            "mcp.maxServers",
            ConfigValue.number(1, 1000),
            "16",
            "Most MCP servers of one sandbox that run on this machine at a time.");

    static final ConfigKey<Optional<String>> MCP_CALLBACK_URL = key(
            "mcp.callbackUrl",
            ConfigValue.optional(ConfigValue.matching(
                    "https?://[A-Za-z0-9.\\[\\]:-]+(/[A-Za-z0-9._~/-]*)?", "an address like https://cay.example.org")),
            "",
            "Where users' browsers reach this API when they authorize remote MCP servers; unset, as http.* says.");

    static final ConfigKey<List<String>> WEBHOOKS_ALLOW = key(
            "webhooks.allow",
            ConfigValue.list(ConfigValue.destination()),
            "",
            "Hosts, *.domains and ranges that receivers of webhooks may lie at though not public.");

    static final ConfigKey<String> TEAM_LIMITS = key(
            "teams.limits",
            ConfigValue.matching("none|hobby|pro", "none, hobby or pro"),
            "none",
            "Limits of teams for which `cay team limit` has set none: none, or those of E2B's plans hobby and pro.");
    static final ConfigKey<Optional<Duration>> AUDIT_KEEP = key(
            "audit.keep",
            ConfigValue.unless("never", ConfigValue.duration(DAY, DAY.multipliedBy(3650))),
            "90d",
            "How long entries of the audit log are kept; never means that none is removed.");
    static final ConfigKey<Boolean> AUDIT_READS = key(
            "audit.reads",
            ConfigValue.yesOrNo(),
            "false",
            "Whether the audit log also has requests that change nothing.");
    static final ConfigKey<Optional<Path>> AUDIT_FILE = key(
            "audit.file",
            ConfigValue.optional(ConfigValue.path()),
            "",
            "File that gets every entry of the audit log as a line of JSON; made readable for root only.");
    static final ConfigKey<Optional<String>> AUDIT_SYSLOG = key(
            "audit.syslog",
            ConfigValue.optional(ConfigValue.matching(
                    "/\\S+|udp://([A-Za-z0-9.-]+|\\[[0-9a-fA-F:.]+])(:[0-9]{1,5})?",
                    "/dev/log, or an address like udp://logs.example.org:514")),
            "",
            "Syslog that gets every entry of the audit log: /dev/log for this machine's, or a UDP address.");

    static final ConfigKey<Optional<String>> OTLP_ENDPOINT = key(
            "logs.otlp.endpoint",
            ConfigValue.optional(ConfigValue.matching(
                    "https?://([A-Za-z0-9.-]+|\\[[0-9a-fA-F:.]+])(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?",
                    "an address like http://collector.example.org:4318")),
            "",
            "OTLP receiver that gets the logs of sandboxes and builds as JSON by HTTP; it may lie in your own network.");
    static final ConfigKey<Optional<Path>> OTLP_HEADERS_FILE = key(
            "logs.otlp.headersFile",
            ConfigValue.optional(ConfigValue.path()),
            "",
            "File with headers for the OTLP receiver, a line 'Name: value' each; readable for root only.");

    private static final String ADDRESS = "https?://[A-Za-z0-9.\\[\\]:-]+(/[A-Za-z0-9._~/-]*)?";

    static final ConfigKey<Optional<String>> SIGN_IN_URL = key(
            "signIn.url",
            ConfigValue.optional(ConfigValue.matching(ADDRESS, "an address like https://cay.example.org")),
            "",
            "Where people's browsers reach this API when they sign in; unset, as mcp.callbackUrl and http.* say.");
    static final ConfigKey<Optional<String>> SIGN_IN_ISSUER = key(
            "signIn.issuer",
            ConfigValue.optional(ConfigValue.matching(
                    "https://[^\\s?#]+|http://(localhost|127\\.0\\.0\\.1|\\[::1])(:[0-9]{1,5})?(/[^\\s?#]*)?",
                    "the https address of an OpenID Connect issuer, like https://login.example.org")),
            "",
            "The OpenID Connect issuer that people sign in with; unset, only with links of `cay login`.");
    static final ConfigKey<Optional<String>> SIGN_IN_CLIENT_ID = key(
            "signIn.clientId",
            ConfigValue.optional(ConfigValue.matching("[!-~]{1,200}", "the client id that the issuer gave")),
            "",
            "The client id by which the issuer knows this Cay.");
    static final ConfigKey<Optional<Path>> SIGN_IN_SECRET_FILE = key(
            "signIn.clientSecretFile",
            ConfigValue.optional(ConfigValue.path()),
            "",
            "File with the client secret, readable for root only; unset for a client without one.");
    static final ConfigKey<List<String>> SIGN_IN_DOMAINS = key(
            "signIn.domains",
            ConfigValue.list(ConfigValue.matching(
                    "[a-z0-9.-]+=[a-z0-9][a-z0-9-]*(:(all|read|sandboxes|templates))?",
                    "like example.org=research or example.org=research:read")),
            "",
            "Teams whose members are all people with e-mail addresses of a domain, as domain=team or domain=team:scope.");

    private static final List<ConfigKey<?>> ALL = List.of(
            INSTANCE,
            STATE_DIR,
            RUN_DIR,
            CACHE_DIR,
            LISTEN,
            PORT,
            TLS_PORT,
            DOMAIN,
            CERTIFICATE,
            CERTIFICATE_KEY,
            TRUSTED_PROXIES,
            CPU_COUNT,
            MEMORY_MB,
            DISK_SIZE_MB,
            MAX_PROCESSES,
            SPARES,
            TIMEOUT,
            MAX_TIMEOUT,
            KEEP_PAUSED,
            PAUSE_AT_STOP,
            PROCESS_LOG_BYTES,
            LAZY_MEMORY,
            FUSE_TEMPLATES,
            PAUSE_ACK,
            PAUSE_FROZEN_MEMORY,
            POOL_SIZE_MB,
            VOLUME_SIZE_MB,
            UID_BASE,
            STORE_URL,
            STORE_PASSWORD_FILE,
            STORE_CONNECTIONS,
            RANGE,
            NAMESERVERS,
            TRUST_HOST_CERTIFICATES,
            MAX_CONNECTIONS,
            BANDWIDTH,
            OPEN_ADDRESSES,
            EGRESS_ALLOW,
            EGRESS_DENY,
            EGRESS_NAMES,
            PREPARE,
            IMAGES,
            BUILDS_PER_TEAM,
            MAX_UPLOAD_MB,
            KEEP_UNUSED,
            REGISTRIES,
            MIRRORS,
            MIRRORS_ONLY,
            MCP_CATALOGS,
            MCP_REPOSITORIES,
            MCP_REPOSITORY_TOKENS,
            MCP_REMOTE_ADDRESSES,
            MCP_META_TOOLS,
            MCP_MEMORY_MB,
            MCP_MAX_SERVERS,
            MCP_CALLBACK_URL,
            WEBHOOKS_ALLOW,
            TEAM_LIMITS,
            AUDIT_KEEP,
            AUDIT_READS,
            AUDIT_FILE,
            AUDIT_SYSLOG,
            OTLP_ENDPOINT,
            OTLP_HEADERS_FILE,
            SIGN_IN_URL,
            SIGN_IN_ISSUER,
            SIGN_IN_CLIENT_ID,
            SIGN_IN_SECRET_FILE,
            SIGN_IN_DOMAINS);

    private ConfigKeys() {}

    /// All keys, in the order in which `cay config` explains them.
    public static List<ConfigKey<?>> all() {
        return ALL;
    }
}
