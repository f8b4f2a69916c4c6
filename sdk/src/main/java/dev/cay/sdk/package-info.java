/// Sandboxes for Java programs: create one, run commands and code in it, move files in and out, pause and fork it.
///
/// Start with {@link dev.cay.sdk.Cay}. Every call blocks, and is meant to be made on virtual threads when many are
/// made at once; an interrupt ends it. Everything that goes wrong is a {@link dev.cay.sdk.SandboxException} whose kind
/// says what to do. Works with Cay and with E2B's cloud, as both speak the same protocol; knows nothing else of Cay.
@NullMarked
package dev.cay.sdk;

import org.jspecify.annotations.NullMarked;
