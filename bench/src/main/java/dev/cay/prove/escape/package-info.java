/// Tries to get out of a sandbox, by `cay-probe` inside it, and shows that each attempt would work without what
/// stops it. Begin with {@link dev.cay.prove.escape.Probes}, the list of attempts;
/// {@link dev.cay.prove.escape.AttackedDaemon} makes them in real sandboxes, {@link dev.cay.prove.escape.WeakSandbox}
/// and {@link dev.cay.prove.escape.ReachLab} in ones that lack a guard. Knows Cay only by its HTTP interface and
/// by the bundle of a running sandbox.
@NullMarked
package dev.cay.prove.escape;

import org.jspecify.annotations.NullMarked;
