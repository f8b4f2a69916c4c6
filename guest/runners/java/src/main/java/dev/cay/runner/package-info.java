/// The runner of Java cells: one JVM in the sandbox that keeps the state of one context, on `jdk.jshell`.
///
/// Start reading at [dev.cay.runner.JavaRunner]. [dev.cay.runner.Cells] evaluates, [dev.cay.runner.CellControl]
/// executes what was compiled, [dev.cay.runner.Events] is the only way out. How node and runner talk is in
/// `guest/runners/PROTOCOL.md`.
///
/// This room runs inside sandboxes with nothing but a JDK: it must not know any other room, nor any library.
@NullMarked
package dev.cay.runner;

import org.jspecify.annotations.NullMarked;
