/// `cay bench`: every promised number beside a baseline of the same run; and what it takes to drive a whole platform
/// from outside: a daemon of one's own ({@link dev.cay.bench.OwnCay}), E2B's clients from npm
/// ({@link dev.cay.bench.NpmClient}) and scripts that use them ({@link dev.cay.bench.Script}).
@NullMarked
package dev.cay.bench;

import org.jspecify.annotations.NullMarked;
