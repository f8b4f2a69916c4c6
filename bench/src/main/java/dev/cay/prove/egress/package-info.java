/// The proof of network rules: {@link dev.cay.prove.egress.EgressWorld} is an internet of namespaces, and
/// {@link dev.cay.prove.egress.EgressSiege} tries every {@link dev.cay.prove.egress.Way} around rules from
/// inside a sandbox, with and without them.
@NullMarked
package dev.cay.prove.egress;

import org.jspecify.annotations.NullMarked;
