/// The two lanes of tests, and a database server of a test's own.
///
/// Every class with tests is {@link dev.cay.testing.Fast} or {@link dev.cay.testing.NeedsRoot}; the build fails
/// otherwise. Only tests, measurements and proofs depend on this room.
@NullMarked
package dev.cay.testing;

import org.jspecify.annotations.NullMarked;
