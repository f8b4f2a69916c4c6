/// Processes in sandboxes that exchange lines of text with the node: interpreters, MCP servers.
///
/// {@link dev.cay.node.lines.LineProcess} reads and writes, {@link dev.cay.node.lines.LongLines} limits the memory of
/// all of them together. The package does not know what the lines mean.
@NullMarked
package dev.cay.node.lines;

import org.jspecify.annotations.NullMarked;
