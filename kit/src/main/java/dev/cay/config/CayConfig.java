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

    /// The same, listening elsewhere: on those of the addresses that this host has.
    public CayConfig withListen(List<String> listen) {
        var changed =
                new Http(listen, http.port, http.tlsPort, http.domain, http.certificate, http.key, http.trustedProxies);
        return new CayConfig(
                instance, stateDir, runDir, cacheDir, changed, sandboxes, storage, store, network, templates, images,
                mcp, webhooks, teams, audit, logs, signIn);
    }

    /// Where browsers of users reach the API, without a slash at its end: as the operator says, else on this machine if
    /// nobody else can connect, else by the domain.
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

    /// Where browsers of people reach the API when they sign in, without a slash at its end.
    public String signInUrl() {
        String given = signIn.url();
        return given == null ? callbackUrl() : withoutSlash(given);
    }

    private static String withoutSlash(String address) {
        return address.endsWith("/") ? address.substring(0, address.length() - 1) : address;
    }

    /// Where requests come in.
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
    /// @param spares          most sandboxes of one template that are started before anybody asks
    /// @param keepPaused      how long paused ones are kept; null for ever
    /// @param pauseAtStop     `never`, `reboot` or `always`
    /// @param processLogBytes how much output of one process is kept to be read again
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
            List<String> fuseTemplates) {
        public Sandboxes {
            fuseTemplates = List.copyOf(fuseTemplates);
        }
    }

    /// Where writable layers lie.
    ///
    /// @param poolSizeMB size of the pool file made when `stateDir` is not on btrfs
    /// @param volumeSizeMB how much a volume may hold at most
    /// @param uidBase    first host uid of the first sandbox; each takes 65,536
    public record Storage(int poolSizeMB, int volumeSizeMB, int uidBase) {
        /// The pool is allocated at once, so it never takes more than half of what is free.
        public int poolSizeMBWithin(long freeBytes) {
            return (int) Math.min(poolSizeMB, freeBytes / 2 / 1024 / 1024);
        }
    }

    /// Where records lie.
    ///
    /// @param url          of a PostgreSQL database; null for a file in the state directory
    /// @param passwordFile holds the password of the database's user; null where none is asked for
    /// @param connections  to the database, at a time
    public record Store(@Nullable String url, @Nullable Path passwordFile, int connections) {}

    /// What sandboxes are made of.
    ///
    /// @param prepare     templates that are made at start rather than when somebody asks for them
    /// @param images      which images stand for a template in builds, as `image=template`
    /// @param maxBuilds   of one team that are under way at a time
    /// @param maxUploadMB of the files of one step
    /// @param keepUnused  how long things stay that nothing refers to; null for ever
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

    /// Where container images come from.
    ///
    /// @param registries addresses of those in the operator's own network
    /// @param mirrors    where images of a registry are looked for first, as `registry=address`
    /// @param mirrorsOnly whether no registry is ever asked
    public record Images(List<String> registries, List<String> mirrors, boolean mirrorsOnly) {
        public Images {
            registries = List.copyOf(registries);
            mirrors = List.copyOf(mirrors);
        }
    }

    /// How sandboxes reach the world.
    ///
    /// @param range       IPv4 range the sandboxes' outer addresses come from, a prefix between /12 and /24
    /// @param nameservers what DNS questions are passed on to; empty means whatever the host uses
    /// @param trustHostCertificates whether CA certificates the operator added to the host are trusted inside
    /// @param maxConnections of one sandbox to the world, at a time
    /// @param bandwidthMbit  of one sandbox, each way; 0 for no limit
    /// @param openAddresses  in the operator's own network that sandboxes may connect to, as `address:port`
    /// @param egressAllow    all that sandboxes may reach, whatever their rules say; empty for everything
    /// @param egressDeny     what no sandbox reaches
    public record Network(
            String range,
            List<String> nameservers,
            boolean trustHostCertificates,
            int maxConnections,
            int bandwidthMbit,
            List<String> openAddresses,
            List<String> egressAllow,
            List<String> egressDeny) {
        public Network {
            nameservers = List.copyOf(nameservers);
            openAddresses = List.copyOf(openAddresses);
            egressAllow = List.copyOf(egressAllow);
            egressDeny = List.copyOf(egressDeny);
        }
    }

    /// Which MCP servers there are beside those that come with Cay, and how they are started here.
    ///
    /// @param catalogs  files with entries of the operator's own; later ones win
    /// @param repositories    where servers are cloned from that users bring themselves
    /// @param tokens          files with tokens for private ones, as `github/OWNER/NAME=FILE`
    /// @param remoteAddresses where remote servers may lie beside the internet
    /// @param metaTools       for gateways whose user does not choose: off, on or only
    /// @param memoryMB        of all servers of one sandbox together
    /// @param maxServers      of one sandbox that run here at a time
    /// @param callbackUrl where browsers of users reach the API; null for as the addresses of the listeners say
    /// @param overrides the file whose section `mcp.servers` says how entries are started; null without a file
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

    /// Where events are sent.
    ///
    /// @param allow where receivers may lie beside the internet
    public record Webhooks(List<String> allow) {
        public Webhooks {
            allow = List.copyOf(allow);
        }
    }

    /// What holds for every team of which nothing else is said.
    ///
    /// @param limits `none`, `hobby` or `pro`
    public record Teams(String limits) {}

    /// Who did what.
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

    /// Where lines of sandbox logs go.
    ///
    /// @param otlpEndpoint    of an OTLP receiver; null for none
    /// @param otlpHeadersFile with headers for the receiver; null for none
    public record Logs(
            @Nullable String otlpEndpoint, @Nullable Path otlpHeadersFile) {}

    /// How people sign in.
    ///
    /// @param url        where their browsers reach the API; null for as the addresses of the listeners say
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
