package dev.cay.server.access;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// The stored form of an API key: everything but the key itself.
///
/// @param id         names it in the API
/// @param maskPrefix the first characters after `e2b_`
/// @param maskSuffix the last characters
/// @param expiresAt  from when on it is refused; null for never
/// @param lastUsed   the last recorded use; null for none
/// @param person     the id of the person who has it, or made it; null for none
/// @param signIn     the id of the sign-in that it was minted for, and with which it is revoked; null if it was not
///                   minted
/// @param family     the id of the first of the keys that took each other's place: limits are theirs together
public record TeamKey(
        String id,
        Team team,
        String name,
        KeyScope scope,
        String maskPrefix,
        String maskSuffix,
        Instant createdAt,
        @Nullable Instant expiresAt,
        @Nullable Instant lastUsed,
        @Nullable String person,
        @Nullable String signIn,
        String family) {
    private static final String OF_PERSON = "person:";

    /// The rights of a person in a team, in the form of a key that is on no list and in no store.
    public static TeamKey ofPerson(String person, String email, Team team, KeyScope scope, @Nullable String signIn) {
        String id = OF_PERSON + person + ":" + team.id();
        return new TeamKey(id, team, email, scope, "", "", Instant.EPOCH, null, null, person, signIn, id);
    }

    /// Whether it was made for a program of a person's when they signed in.
    boolean isMinted() {
        return signIn != null && !isOfPerson();
    }

    /// Whether it stands for a person with a token of their own.
    public boolean isOfPerson() {
        return id.startsWith(OF_PERSON);
    }

    /// A text that shows whose key it is without the key: its first and last characters, or the person's address.
    public String masked() {
        return isOfPerson() ? name : ApiKey.PREFIX + maskPrefix + "..." + maskSuffix;
    }

    boolean isOver(Instant now) {
        return expiresAt != null && !expiresAt.isAfter(now);
    }

    TeamKey named(String other) {
        return new TeamKey(
                id, team, other, scope, maskPrefix, maskSuffix, createdAt, expiresAt, lastUsed, person, signIn, family);
    }

    TeamKey until(@Nullable Instant end) {
        return new TeamKey(
                id, team, name, scope, maskPrefix, maskSuffix, createdAt, end, lastUsed, person, signIn, family);
    }

    TeamKey used(@Nullable Instant at) {
        return new TeamKey(
                id, team, name, scope, maskPrefix, maskSuffix, createdAt, expiresAt, at, person, signIn, family);
    }

    /// @param maker  the person who made it; null for none
    /// @param minted the sign-in that it is for; null for none
    TeamKey madeBy(@Nullable String maker, @Nullable String minted) {
        return new TeamKey(
                id, team, name, scope, maskPrefix, maskSuffix, createdAt, expiresAt, lastUsed, maker, minted, family);
    }

    /// This key as one that takes the place of another.
    TeamKey after(TeamKey other) {
        return new TeamKey(
                id,
                team,
                name,
                scope,
                maskPrefix,
                maskSuffix,
                createdAt,
                expiresAt,
                lastUsed,
                person,
                signIn,
                other.family());
    }
}
