/// Limits of teams and keys: amounts and rates. Limits are in the store and cached in memory; rates are counted in
/// memory alone, sandboxes in the transaction that creates one.
@NullMarked
package dev.cay.server.quota;

import org.jspecify.annotations.NullMarked;
