/// Authentication: teams, their API keys, and the tokens that open one sandbox.
///
/// Start at {@link dev.cay.server.access.Access}, which guards routes; {@link dev.cay.server.access.KnownTeams} has
/// all teams and keys. Keys are stored hashed; tokens are not stored but derived.
@NullMarked
package dev.cay.server.access;

import org.jspecify.annotations.NullMarked;
