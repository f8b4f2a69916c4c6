/// The processes of a sandbox and their output: {@link dev.cay.node.process.ProcessTable}.
///
/// A table starts a {@link dev.cay.node.process.SandboxProcess}, which knows only what all processes of a table use. A
/// {@link dev.cay.node.process.Subscription} follows one.
///
/// Output goes from the pipe by `splice` into a bounded log and from there to subscribers, so a killed daemon loses
/// none of it and a slow reader costs no memory. HTTP is not known here.
@NullMarked
package dev.cay.node.process;

import org.jspecify.annotations.NullMarked;
