/// One machine that runs sandboxes. {@link dev.cay.node.NodeAssembly} puts the packages below together by
/// plain `new`, and makes the {@link dev.cay.node.CayNode} that the daemon starts and closes.
@NullMarked
package dev.cay.node;

import org.jspecify.annotations.NullMarked;
