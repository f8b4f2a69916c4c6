/// Sandboxes for Java programs: create one, run commands and code in it, read and write files, pause and fork it.
///
/// Start with {@link dev.cay.sdk.Cay}. Every call blocks until it is done; an interrupt ends it. Use virtual threads
/// for many calls at once. Every failure is a {@link dev.cay.sdk.SandboxException}, whose kind says what to do. Works
/// with Cay and with E2B's cloud, which speak the same protocol; knows nothing else of Cay.
@NullMarked
package dev.cay.sdk;

import org.jspecify.annotations.NullMarked;
