package dev.cay.server.people;

import dev.cay.life.Steps;
import dev.cay.server.access.ApiKeys;
import dev.cay.server.store.Store;
import dev.cay.server.store.Transaction;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/// The browsers and programs that people have signed in with, and the links that sign in. They outlive a restart.
/// Thread-safe.
final class SignIns {
    static final Duration LINK_LIFE = Duration.ofMinutes(10);

    /// A refresh token may be used again within this time, because the answer may have been lost on its way.
    private static final Duration REPEATABLE = Duration.ofMinutes(1);

    /// A sign-in with the secret that proves it, which cannot be shown again.
    record Proved(SignIn signIn, Secret secret) {}

    /// What came of a refresh token.
    sealed interface Renewal {
        /// @param proved with the token that takes the place of the one that was used
        record Renewed(Proved proved) implements Renewal {}

        /// The token is not known, or too old.
        record Unknown() implements Renewal {}

        /// The token was used before, and this is no repetition of that: it was stolen from its holder, or by them.
        /// Nobody goes on with this sign-in.
        record Reused(SignIn signIn) implements Renewal {}
    }

    private final Store store;
    private final ApiKeys keys;
    private final InstantSource clock;
    private final SecureRandom random;

    SignIns(Store store, ApiKeys keys, InstantSource clock, SecureRandom random) {
        this.store = store;
        this.keys = keys;
        this.clock = clock;
        this.random = random;
    }

    /// A link that signs a browser in, once and within ten minutes.
    Secret link(Person person) {
        var link = Secret.random("cay_link_", random);
        store.write(handle -> {
            SignInStore.deleteOld(handle, clock.instant());
            SignInStore.insertLink(handle, link, person, clock.instant().plus(LINK_LIFE));
            return person;
        });
        return link;
    }

    /// Whom a link would sign in.
    Optional<Person> peek(Secret link) {
        return store.read(handle -> SignInStore.findLink(handle, link, clock.instant()));
    }

    /// Uses a link up.
    Optional<Proved> take(Secret link) {
        var found = peek(link);
        if (found.isEmpty()) {
            return Optional.empty();
        }
        var proved = fresh(found.get(), SignIn.Kind.BROWSER);
        return store.write(new Transaction<Optional<Proved>>() {
            @Override
            public Optional<Proved> run(Handle handle) {
                if (!SignInStore.takeLink(handle, link)) {
                    return Optional.empty();
                }
                SignInStore.insert(handle, proved.signIn(), proved.secret(), clock.instant());
                return Optional.of(proved);
            }

            @Override
            public Optional<Optional<Proved>> done(Handle handle) {
                return SignInStore.knows(handle, proved.secret()) ? Optional.of(Optional.of(proved)) : Optional.empty();
            }
        });
    }

    /// @throws CayException if the person was removed meanwhile: a sign-in of theirs would be good again when they are
    /// added again
    Proved begin(Person person, SignIn.Kind kind) {
        var proved = fresh(person, kind);
        Steps.reach("sign-in-begins");
        store.write(handle -> {
            SignInStore.deleteOld(handle, clock.instant());
            if (!SignInStore.lock(handle, person)) {
                throw new CayException(
                        ErrorKind.PERMISSION_DENIED,
                        "%s was removed by the operator just now".formatted(person.email()));
            }
            SignInStore.insert(handle, proved.signIn(), proved.secret(), clock.instant());
            return proved;
        });
        return proved;
    }

    private Proved fresh(Person person, SignIn.Kind kind) {
        var end = clock.instant().plus(kind.life());
        var signIn = new SignIn(UUID.randomUUID().toString(), person, kind, end);
        return new Proved(signIn, Secret.random(kind.prefix(), random));
    }

    Optional<SignIn> find(String id) {
        return store.read(handle -> SignInStore.find(handle, id, clock.instant()));
    }

    /// The browser that has this cookie.
    Optional<SignIn> findBrowser(Secret cookie) {
        return find(cookie, SignIn.Kind.BROWSER);
    }

    private Optional<SignIn> find(Secret secret, SignIn.Kind kind) {
        return find(secret, kind, clock.instant());
    }

    private Optional<SignIn> find(Secret secret, SignIn.Kind kind, Instant now) {
        return store.read(handle -> SignInStore.findBySecret(handle, secret, now))
                .filter(signIn -> signIn.kind() == kind);
    }

    /// Takes a refresh token for another one. One that comes a second time ends the sign-in, as two have it then.
    ///
    /// But a client whose answer was lost can repeat its request within a minute. It gets another token, and the
    /// one of the lost answer is not good any more: if that one was used, or is used later, two have the sign-in.
    Renewal renew(Secret token) {
        var found = find(token, SignIn.Kind.PROGRAM);
        if (found.isEmpty()) {
            return new Renewal.Unknown();
        }
        var old = found.get();
        var end = clock.instant().plus(old.kind().life());
        var next = Secret.random(old.kind().prefix(), random);
        var renewed = new Renewal.Renewed(new Proved(new SignIn(old.id(), old.person(), old.kind(), end), next));
        var outcome = store.write(new Transaction<Renewal>() {
            @Override
            public Renewal run(Handle handle) {
                var now = clock.instant();
                SignInStore.extend(handle, old.id(), end);
                if (!SignInStore.use(handle, token, now)) {
                    if (!SignInStore.mayRepeat(handle, token, now, REPEATABLE)) {
                        SignInStore.delete(handle, old.id());
                        return new Renewal.Reused(old);
                    }
                    SignInStore.replace(handle, token);
                }
                SignInStore.insertSecret(handle, old.id(), next, token, now);
                return renewed;
            }

            @Override
            public Optional<Renewal> done(Handle handle) {
                return SignInStore.knows(handle, next) ? Optional.of(renewed) : Optional.empty();
            }
        });
        if (outcome instanceof Renewal.Reused) {
            Steps.reach("sign-in-ended");
            revokeKeys(old);
        }
        return outcome;
    }

    /// Ends the sign-in that a refresh token belongs to, if there is one; also one that is too old to be renewed, as
    /// its keys are good until now.
    Optional<SignIn> revoke(Secret token) {
        var found = find(token, SignIn.Kind.PROGRAM, Instant.EPOCH);
        found.ifPresent(this::end);
        return found;
    }

    /// From here on its tokens and the keys that were minted for it are refused.
    void end(SignIn signIn) {
        store.write(handle -> {
            SignInStore.delete(handle, signIn.id());
            return signIn;
        });
        Steps.reach("sign-in-ended");
        revokeKeys(signIn);
    }

    private void revokeKeys(SignIn signIn) {
        keys.end(signIn.id());
    }
}
