package dev.cay.mcp;

import dev.cay.http.HttpListeners;
import dev.cay.http.Routes;
import dev.cay.mcp.protocol.Conversation;
import dev.cay.mcp.protocol.ConversationHost;
import dev.cay.mcp.protocol.face.HttpFace;
import dev.cay.sdk.Cay;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Offers sandboxes as tools over HTTP to every holder of a valid key: the bearer token is the client's key. Sandboxes
/// belong to the key, and end with its last session.
public final class HttpSandboxServer implements ConversationHost, AutoCloseable {
    private static final String PATH = "/mcp";

    private final ServerSettings settings;
    private final Keys keys;
    private final HttpListeners listeners = new HttpListeners();
    private final HttpFace face;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Account> accounts = new HashMap<>();

    /// The sessions and sandboxes of a key.
    private static final class Account {
        final Cay cay;
        final OwnSandboxes sandboxes;
        int clients;

        Account(ServerSettings settings, String key) {
            cay = Cay.with(settings.sandboxes().withApiKey(key));
            sandboxes = new OwnSandboxes(cay, settings.template(), settings.most());
        }
    }

    /// @param hosts host names of this server, besides addresses and those of the machine itself
    public HttpSandboxServer(ServerSettings settings, Set<String> hosts) {
        this.settings = settings;
        this.keys = new Keys(settings.sandboxes());
        // A page can let its own name point anywhere, but not an address.
        this.face = new HttpFace(
                this, HttpFace.Settings.usual().withHosts(name -> isAddress(name) || hosts.contains(name)));
    }

    private static boolean isAddress(String name) {
        return name.startsWith("[") || name.matches("\\d{1,3}(\\.\\d{1,3}){3}");
    }

    /// Begins to answer, at one address. Returns where it listens.
    ///
    /// @throws java.net.BindException when the port is taken
    public InetSocketAddress listen(InetSocketAddress address) throws IOException {
        var routes = new Routes();
        // The face has rules of its own for the others.
        for (String method : new String[] {"GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS"}) {
            routes.on(method, PATH, face);
        }
        var listening = listeners.listen(address, routes);
        face.start();
        return listening;
    }

    @Override
    public @Nullable String admit(@Nullable String bearer) {
        return bearer != null && keys.accepts(bearer) ? bearer : null;
    }

    @Override
    public Conversation open(String key, Conversation.Client client) {
        lock.lock();
        try {
            var account = accounts.computeIfAbsent(key, _ -> new Account(settings, key));
            account.clients++;
            var gone = new AtomicBoolean();
            return new ToolServer(account.sandboxes, settings.lifetimes(), () -> {
                if (gone.compareAndSet(false, true)) {
                    leave(key, account);
                }
            });
        } finally {
            lock.unlock();
        }
    }

    private void leave(String key, Account account) {
        lock.lock();
        try {
            if (--account.clients > 0) {
                return;
            }
            accounts.remove(key, account);
        } finally {
            lock.unlock();
        }
        account.sandboxes.close();
        account.cay.close();
    }

    /// Ends all sessions, and with them all sandboxes.
    @Override
    public void close() {
        face.close();
        listeners.close();
    }
}
