/// The two lanes of tests, and what a test has of its own: a database server, a registry of images, JVMs, a program
/// that attacks from inside a sandbox.
///
/// Every class with tests is {@link dev.cay.testing.Fast} or {@link dev.cay.testing.NeedsRoot}; the build fails
/// otherwise. Only tests, measurements and proofs depend on this module.
@NullMarked
package dev.cay.testing;

import org.jspecify.annotations.NullMarked;
