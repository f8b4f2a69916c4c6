package dev.cay.node.mcp.intercept;

import dev.cay.node.host.OperatorProgram;
import dev.cay.node.mcp.catalog.Interception;
import dev.cay.web.HostRoots;
import dev.cay.wire.SandboxId;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/// All interceptors of the operator. Thread-safe.
public final class Interceptors implements AutoCloseable {
    /// Programs and connections at a time, for all sandboxes and for one: none can keep the others from calling.
    private static final int MOST_AT_ONCE = 64;

    private static final int MOST_OF_ONE = 8;

    /// Time limit of a connection, within the limit of the whole.
    private static final Duration CONNECTING = Duration.ofSeconds(10);

    private final @Nullable HttpClient client;
    private final List<Interceptor> all;
    private final Semaphore room = new Semaphore(MOST_AT_ONCE, true);

    public Interceptors(List<Interception> wanted) {
        var http = wanted.stream().anyMatch(one -> one.way() instanceof Interception.Web) ? client() : null;
        client = http;
        all = wanted.stream().map(one -> new Interceptor(one, asked(one, http))).toList();
    }

    /// A client without redirects and proxies, because the operator chose the address.
    private static HttpClient client() {
        return HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .proxy(HttpClient.Builder.NO_PROXY)
                .connectTimeout(CONNECTING)
                .sslContext(HostRoots.tls())
                .build();
    }

    private static InterceptorBackend asked(Interception one, @Nullable HttpClient http) {
        return switch (one.way()) {
            case Interception.Program program -> new ProgramBackend(one.name(), new OperatorProgram(program.command()));
            case Interception.Web web -> {
                if (http == null) {
                    throw new IllegalStateException("no client");
                }
                yield new HttpBackend(one.name(), web.url(), http);
            }
        };
    }

    /// The interceptors for one sandbox.
    public CallWatch of(SandboxId sandbox) {
        return new CallWatch(sandbox, all, room, new Semaphore(MOST_OF_ONE, true));
    }

    @Override
    public void close() {
        if (client != null) {
            client.shutdownNow();
        }
    }
}
