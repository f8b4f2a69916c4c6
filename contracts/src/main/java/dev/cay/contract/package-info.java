/// What every implementation of an interface in `wire` does, as tests.
///
/// A contract is an interface with default methods that are tests. The test of an implementation implements it. So a
/// fake that tests use answers as the real one does.
@NullMarked
package dev.cay.contract;

import org.jspecify.annotations.NullMarked;
