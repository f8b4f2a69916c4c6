/// What teams and keys may use, and how often they may ask. Limits are kept in the store and known in memory; rates are
/// counted in memory alone, sandboxes in the transaction that begins one.
@NullMarked
package dev.cay.server.quota;

import org.jspecify.annotations.NullMarked;
