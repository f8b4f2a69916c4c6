/// Processes in sandboxes that are spoken with in lines: interpreters, MCP servers.
///
/// {@link dev.cay.node.lines.LineProcess} reads and writes, {@link dev.cay.node.lines.LongLines} bounds what all
/// of them hold in memory together. Knows nothing of what the lines say.
@NullMarked
package dev.cay.node.lines;

import org.jspecify.annotations.NullMarked;
