package dev.cay.server.secret;

import dev.cay.life.Steps;
import dev.cay.server.access.Caller;
import dev.cay.server.access.KeyScope;
import dev.cay.server.access.Team;
import dev.cay.server.store.Store;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The secrets of all teams; a team sees only its own. No method returns a value to clients: values leave only by
/// {@link #value}, into requests of sandboxes. Thread-safe.
public final class Secrets {
    private static final Logger log = LoggerFactory.getLogger(Secrets.class);
    private static final int MOST_PER_TEAM = 1000;
    private static final int ID_LENGTH = 20;
    private static final int PORTION = 100;
    private static final String ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";

    /// A value with where it may go.
    ///
    /// @param hosts names, or `*.` and a name, of the only hosts that may get it; empty if its owner named none
    public record Value(String text, List<String> hosts) {
        public Value {
            hosts = List.copyOf(hosts);
        }

        @Override
        public String toString() {
            return "Value[for " + hosts + "]";
        }
    }

    private final Store store;
    private final KeyRing keys;
    private final InstantSource clock;
    private final SecureRandom random;

    /// Shared by threads that seal and write a value, exclusive for a rotation: no value is written with a deleted key.
    private final ReentrantReadWriteLock sealing = new ReentrantReadWriteLock();

    /// @param file of the keys that seal values; made when absent, mode 0600
    public Secrets(Store store, Path file, InstantSource clock, SecureRandom random) {
        this.store = store;
        this.keys = KeyRing.open(file, random);
        this.clock = clock;
        this.random = random;
    }

    /// Completes a rotation that was interrupted.
    public void start() {
        int sealed = locked(sealing.writeLock(), this::complete);
        if (sealed > 0) {
            log.atInfo().addKeyValue("secrets", sealed).log("completed an interrupted rotation of the sealing key");
        }
    }

    private int complete() {
        int sealed = sealAnew();
        keys.forgetOld();
        return sealed;
    }

    TeamSecret create(Team team, String name, SecretRequest request) {
        return locked(sealing.readLock(), () -> add(team, name, request));
    }

    private TeamSecret add(Team team, String name, SecretRequest request) {
        String id = SecretRequest.RESERVED + letters();
        Instant now = clock.instant().truncatedTo(ChronoUnit.MILLIS);
        var metadata = Objects.requireNonNullElse(request.metadata(), Map.<String, String>of());
        var secret = sealed(new TeamSecret(id, team.id(), name, 1, metadata, "", "", now, now), request.value());
        return store.write(handle -> {
            boolean again = SecretStore.find(handle, team.id(), id).isPresent();
            if (!again && SecretStore.count(handle, team.id()) >= MOST_PER_TEAM) {
                throw new CayException(
                        ErrorKind.CONFLICT,
                        "a team can have %d secrets; delete one of them first".formatted(MOST_PER_TEAM));
            }
            if (!again && !SecretStore.insert(handle, secret)) {
                throw new CayException(
                        ErrorKind.ALREADY_EXISTS,
                        "Secret '%s' already exists; POST /secrets/%s gives it another value".formatted(name, name));
            }
            return secret;
        });
    }

    List<TeamSecret> list(Team team) {
        return store.read(handle -> SecretStore.list(handle, team.id()));
    }

    TeamSecret require(Team team, String idOrName) {
        return find(team.id(), idOrName).orElseThrow(() -> unknown(idOrName));
    }

    /// Gives it another value. Requests that sandboxes send from now on carry the new one.
    TeamSecret update(Team team, String idOrName, SecretRequest request) {
        return locked(sealing.readLock(), () -> change(team, idOrName, request));
    }

    private TeamSecret change(Team team, String idOrName, SecretRequest request) {
        while (true) {
            var old = require(team, idOrName);
            var metadata = Objects.requireNonNullElse(request.metadata(), old.metadata());
            Instant now = clock.instant().truncatedTo(ChronoUnit.MILLIS);
            var next = sealed(
                    new TeamSecret(
                            old.id(),
                            old.team(),
                            old.name(),
                            old.version() + 1,
                            metadata,
                            "",
                            "",
                            old.createdAt(),
                            now),
                    request.value());
            if (replace(old, next)) {
                return next;
            }
        }
    }

    void delete(Team team, String idOrName) {
        var secret = require(team, idOrName);
        store.write(handle -> SecretStore.delete(handle, secret.id()));
    }

    /// The value that a request of a sandbox of this team shall carry; empty if there is no such secret.
    public Optional<Value> value(TeamId team, String name) {
        return find(team, name).map(secret -> new Value(open(secret), SecretRequest.hosts(secret.metadata())));
    }

    /// Refuses secrets that the caller could send to a host of their choice, unless the caller's key has the scope
    /// `all`: the author of a rule can choose a host and read the requests there.
    public void requireUsable(Caller caller, Set<String> names) {
        if (caller.scope().equals(KeyScope.ALL)) {
            return;
        }
        for (String name : names) {
            find(caller.team().id(), name)
                    .filter(secret -> SecretRequest.hosts(secret.metadata()).isEmpty())
                    .ifPresent(secret -> {
                        throw new CayException(
                                ErrorKind.PERMISSION_DENIED,
                                "this key has the scope '%s', and may use only secrets that are bound to hosts; '%s' is not: give it metadata '%s', or use a key with the scope 'all'"
                                        .formatted(caller.scope(), name, SecretRequest.HOSTS));
                    });
        }
    }

    private Optional<TeamSecret> find(TeamId team, String idOrName) {
        String text = idOrName.toLowerCase(Locale.ROOT);
        return store.read(handle -> SecretStore.find(handle, team, text));
    }

    /// Seals all values with a new key. The old key is kept until the next rotation, for backups that are being
    /// taken. When it is interrupted, the next start completes it.
    ///
    /// @return how many
    int rotate() {
        return locked(sealing.writeLock(), () -> {
            complete();
            keys.add();
            return complete();
        });
    }

    private static <T> T locked(Lock lock, Supplier<T> work) {
        lock.lock();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
    }

    private int sealAnew() {
        String newest = keys.newest();
        int sealed = 0;
        String last = "";
        while (true) {
            String after = last;
            var portion = store.read(handle -> SecretStore.sealedWithOther(handle, newest, after, PORTION));
            if (portion.isEmpty()) {
                return sealed;
            }
            for (var secret : portion) {
                // A value that changed meanwhile was sealed with the newest key.
                sealed += replace(secret, sealed(secret, open(secret))) ? 1 : 0;
                Steps.reach("secret-sealed");
            }
            last = portion.getLast().id();
        }
    }

    private boolean replace(TeamSecret before, TeamSecret after) {
        return store.write(handle -> SecretStore.update(handle, before, after)
                || SecretStore.find(handle, after.team(), after.id())
                        .filter(after::equals)
                        .isPresent());
    }

    private TeamSecret sealed(TeamSecret secret, String value) {
        var sealed = keys.seal(secret.row(), value);
        return secret.withSealed(sealed.text(), sealed.key());
    }

    private String open(TeamSecret secret) {
        try {
            return keys.column(secret.sealedWith())
                    .orElseThrow(() -> new GeneralSecurityException("no key " + secret.sealedWith()))
                    .open(secret.row(), secret.sealed());
        } catch (GeneralSecurityException e) {
            throw new CayException(
                    ErrorKind.INTERNAL,
                    "the value of the secret '%s' cannot be opened, as the keys of this Cay were replaced; set it again, or restore the keys from a backup"
                            .formatted(secret.name()),
                    e);
        }
    }

    private String letters() {
        var letters = new StringBuilder();
        for (int i = 0; i < ID_LENGTH; i++) {
            letters.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
        }
        return letters.toString();
    }

    private static CayException unknown(String idOrName) {
        String shown = idOrName.length() <= 128 ? idOrName : idOrName.substring(0, 128) + "...";
        return new CayException(ErrorKind.NOT_FOUND, "Secret '%s' not found".formatted(shown));
    }
}
