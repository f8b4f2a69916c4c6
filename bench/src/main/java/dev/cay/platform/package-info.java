/// What it takes to drive a whole platform from outside, for measurements, proofs and acceptance tests: a daemon of
/// one's own ({@link dev.cay.platform.OwnCay}), E2B's clients from npm ({@link dev.cay.platform.NpmClient}) and scripts
/// that use them ({@link dev.cay.platform.Script}). Knows neither a measurement nor a proof.
@NullMarked
package dev.cay.platform;

import org.jspecify.annotations.NullMarked;
