package dev.cay.config;

import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Everything an operator can set, already checked. Constructors elsewhere take the values they use, never this.
///
/// @param instance names this daemon among several on one host: its nft table, interfaces, cgroup
/// @param stateDir database, pool, logs, certificates
/// @param runDir   what does not outlive a reboot
/// @param cacheDir content-keyed artefacts, shared by all instances of this host
public record CayConfig(
        String instance,
        Path stateDir,
        Path runDir,
        Path cacheDir,
        Http http,
        Sandboxes sandboxes,
        Pause pause,
        Storage storage,
        Store store,
        Network network,
        Templates templates,
        Images images,
        Mcp mcp,
        Webhooks webhooks,
        Teams teams,
        Audit audit,
        Logs logs,
        SignIn signIn) {

    /// A copy that listens elsewhere: on those of the addresses that this host has.
    public CayConfig withListen(List<String> listen) {
        var changed =
                new Http(listen, http.port, http.tlsPort, http.domain, http.certificate, http.key, http.trustedProxies);
        return new CayConfig(
                instance, stateDir, runDir, cacheDir, changed, sandboxes, pause, storage, store, network, templates,
                images, mcp, webhooks, teams, audit, logs, signIn);
    }

    /// The address at which users' browsers reach the API, without a slash at its end: the operator's value, else this
    /// machine if only local clients can connect, else the domain.
    public String callbackUrl() {
        String given = mcp.callbackUrl();
        if (given != null) {
            return withoutSlash(given);
        }
        boolean local = http.listen.stream()
                .allMatch(address -> InetAddress.ofLiteral(address).isLoopbackAddress());
        if (local) {
            return "http://127.0.0.1:" + http.port;
        }
        return "https://api." + http.domain + (http.tlsPort == 443 ? "" : ":" + http.tlsPort);
    }

    /// The address at which browsers reach the API for sign-in, without a slash at its end.
    public String signInUrl() {
        String given = signIn.url();
        return given == null ? callbackUrl() : withoutSlash(given);
    }

    private static String withoutSlash(String address) {
        return address.endsWith("/") ? address.substring(0, address.length() - 1) : address;
    }

    /// Listeners.
    ///
    /// @param listen   addresses to bind, loopback unless the operator opens it
    /// @param domain   what sandboxes' host names end in, without a port
    /// @param trustedProxies addresses and ranges of reverse proxies whose `X-Forwarded-For` is believed
    public record Http(
            List<String> listen,
            int port,
            int tlsPort,
            String domain,
            @Nullable Path certificate,
            @Nullable Path key,
            List<String> trustedProxies) {
        public Http {
            listen = List.copyOf(listen);
            trustedProxies = List.copyOf(trustedProxies);
        }
    }

    /// Defaults and limits of sandboxes.
    ///
    /// @param spares          most sandboxes of one template that are started in advance
    /// @param keepPaused      how long paused sandboxes are kept; null for ever
    /// @param pauseAtStop     `never`, `reboot` or `always`
    /// @param processLogBytes how much output of one process is kept to be read again
    /// @param lazyMemory      whether restored sandboxes run while their memory comes back; null: where it can
    /// @param fuseTemplates   ids of templates whose sandboxes may mount FUSE
    public record Sandboxes(
            int cpuCount,
            int memoryMB,
            int diskSizeMB,
            int maxProcesses,
            int spares,
            Duration timeout,
            Duration maxTimeout,
            @Nullable Duration keepPaused,
            String pauseAtStop,
            long processLogBytes,
            @Nullable Boolean lazyMemory,
            List<String> fuseTemplates) {
        public Sandboxes {
            fuseTemplates = List.copyOf(fuseTemplates);
        }
    }

    /// Pauses of sandboxes.
    ///
    /// @param ack            `frozen` or `saved`: what is awaited before a pause is answered
    /// @param frozenMemoryMB of paused sandboxes that stay frozen after they are saved; null: a part of all
    public record Pause(String ack, @Nullable Integer frozenMemoryMB) {
        private static final int PART = 4;

        /// The budget on a machine with so much memory.
        public int frozenMemoryMBOf(long machineBytes) {
            return frozenMemoryMB == null ? (int) ((machineBytes / PART) >> 20) : frozenMemoryMB;
        }
    }

    /// Storage of writable layers.
    ///
    /// @param poolSizeMB   size of the pool file made when `stateDir` is not on btrfs
    /// @param volumeSizeMB how much a volume may hold at most
    /// @param uidBase      first host uid of the first sandbox; each takes 65,536
    public record Storage(int poolSizeMB, int volumeSizeMB, int uidBase) {
        /// The pool is allocated at once, so it never takes more than half of what is free.
        public int poolSizeMBWithin(long freeBytes) {
            return (int) Math.min(poolSizeMB, freeBytes / 2 / 1024 / 1024);
        }
    }

    /// The database of records.
    ///
    /// @param url          of a PostgreSQL database; null for a file in the state directory
    /// @param passwordFile holds the password of the database's user; null where no password is needed
    /// @param connections  most connections to the database at a time
    public record Store(@Nullable String url, @Nullable Path passwordFile, int connections) {}

    /// Templates and builds.
    ///
    /// @param prepare     templates that are built at start, not on demand
    /// @param images      which images mean a template in builds, as `image=template`
    /// @param maxBuilds   most concurrent builds of one team
    /// @param maxUploadMB most megabytes of the files of one step
    /// @param keepUnused  how long unreferenced files are kept; null for ever
    public record Templates(
            List<String> prepare,
            List<String> images,
            int maxBuilds,
            int maxUploadMB,
            @Nullable Duration keepUnused) {
        public Templates {
            prepare = List.copyOf(prepare);
            images = List.copyOf(images);
        }
    }

    /// Registries of container images.
    ///
    /// @param registries  addresses of registries in the operator's own network
    /// @param mirrors     addresses that are asked before a registry, as `registry=address`
    /// @param mirrorsOnly whether no registry is ever asked
    public record Images(List<String> registries, List<String> mirrors, boolean mirrorsOnly) {
        public Images {
            registries = List.copyOf(registries);
            mirrors = List.copyOf(mirrors);
        }
    }

    /// Network of sandboxes.
    ///
    /// @param range                 IPv4 range of the sandboxes' outer addresses, a prefix between /12 and /24
    /// @param nameservers           servers that DNS queries are forwarded to; empty means those of the host
    /// @param trustHostCertificates whether CA certificates that the operator added to the host are trusted inside
    /// @param maxConnections        most connections of one sandbox to the internet at a time
    /// @param bandwidthMbit         bandwidth of one sandbox, each way; 0 for no limit
    /// @param openAddresses         addresses in the operator's own network that sandboxes may connect to, as
    ///                              `address:port`
    /// @param egressAllow           the only destinations of sandboxes, whatever their rules allow; empty for no
    ///                              such limit
    /// @param egressDeny            destinations that no sandbox reaches
    /// @param egressNames           the only host names that sandboxes look up; empty for all
    public record Network(
            String range,
            List<String> nameservers,
            boolean trustHostCertificates,
            int maxConnections,
            int bandwidthMbit,
            List<String> openAddresses,
            List<String> egressAllow,
            List<String> egressDeny,
            List<String> egressNames) {
        public Network {
            nameservers = List.copyOf(nameservers);
            openAddresses = List.copyOf(openAddresses);
            egressAllow = List.copyOf(egressAllow);
            egressDeny = List.copyOf(egressDeny);
            egressNames = List.copyOf(egressNames);
        }
    }

    /// MCP servers beside those that come with Cay, and the way they are started here.
    ///
    /// @param catalogs        files with the operator's own entries; later ones win
    /// @param repositories    base address that users' own servers are cloned from
    /// @param tokens          files with tokens for private repositories, as `github/OWNER/NAME=FILE`
    /// @param remoteAddresses non-public addresses at which remote servers may be
    /// @param metaTools       default for gateways: off, on or only
    /// @param memoryMB        memory of all servers of one sandbox together
    /// @param maxServers      most servers of one sandbox that run here at a time
    /// @param callbackUrl     address at which users' browsers reach the API; null to derive it from the listeners
    /// @param overrides       the file whose section `mcp.servers` overrides entries; null without a file
    public record Mcp(
            List<Path> catalogs,
            String repositories,
            List<String> tokens,
            List<String> remoteAddresses,
            String metaTools,
            int memoryMB,
            int maxServers,
            @Nullable String callbackUrl,
            @Nullable Path overrides) {
        public Mcp {
            catalogs = List.copyOf(catalogs);
            tokens = List.copyOf(tokens);
            remoteAddresses = List.copyOf(remoteAddresses);
        }
    }

    /// Receivers of events.
    ///
    /// @param allow non-public addresses at which receivers may be
    public record Webhooks(List<String> allow) {
        public Webhooks {
            allow = List.copyOf(allow);
        }
    }

    /// Defaults for teams.
    ///
    /// @param limits `none`, `hobby` or `pro`
    public record Teams(String limits) {}

    /// The audit log.
    ///
    /// @param keep   how long entries are kept; null for ever
    /// @param reads  whether requests that change nothing are recorded, too
    /// @param file   gets each entry as a line of JSON; null for none
    /// @param syslog path of the local socket, or a UDP address; null for none
    public record Audit(
            @Nullable Duration keep,
            boolean reads,
            @Nullable Path file,
            @Nullable String syslog) {}

    /// The receiver of sandbox logs.
    ///
    /// @param otlpEndpoint    of an OTLP receiver; null for none
    /// @param otlpHeadersFile with headers for the receiver; null for none
    public record Logs(
            @Nullable String otlpEndpoint, @Nullable Path otlpHeadersFile) {}

    /// Sign-in of people.
    ///
    /// @param url        address at which their browsers reach the API; null to derive it from the listeners
    /// @param issuer     of OpenID Connect; null for none
    /// @param clientId   by which the issuer knows this Cay; null without an issuer
    /// @param secretFile holds the client secret; null for a client without one
    /// @param domains    teams of all people of a domain, as `domain=team` or `domain=team:scope`
    public record SignIn(
            @Nullable String url,
            @Nullable String issuer,
            @Nullable String clientId,
            @Nullable Path secretFile,
            List<String> domains) {
        public SignIn {
            domains = List.copyOf(domains);
        }
    }
}
