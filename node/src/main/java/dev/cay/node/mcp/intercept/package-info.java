/// What the operator puts between clients and tools: programs and addresses that look at calls, change or stop them.
///
/// They are asked by {@link dev.cay.node.mcp.intercept.CallWatch}. One that is broken lets nothing pass.
@NullMarked
package dev.cay.node.mcp.intercept;

import org.jspecify.annotations.NullMarked;
