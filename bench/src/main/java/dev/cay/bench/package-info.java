/// `cay bench`: every promised number beside a baseline of the same run. Knows no proof; proofs use some measurements.
@NullMarked
package dev.cay.bench;

import org.jspecify.annotations.NullMarked;
