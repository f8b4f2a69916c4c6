/// The two lanes of tests.
///
/// Every class with tests is {@link dev.cay.testing.Fast} or {@link dev.cay.testing.NeedsRoot}; the build fails
/// otherwise. Only tests depend on this room.
@NullMarked
package dev.cay.testing;

import org.jspecify.annotations.NullMarked;
