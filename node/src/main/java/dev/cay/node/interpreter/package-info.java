/// Runs code for E2B's code-interpreter clients: contexts, each with a runner in the sandbox, and the HTTP face to
/// them.
@NullMarked
package dev.cay.node.interpreter;

import org.jspecify.annotations.NullMarked;
