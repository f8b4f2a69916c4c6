/// Who may call: teams, their API keys, and the tokens that open one sandbox.
///
/// Start at {@link dev.cay.server.access.Access}. Keys are kept hashed, tokens are not kept at all but derived.
@NullMarked
package dev.cay.server.access;

import org.jspecify.annotations.NullMarked;
