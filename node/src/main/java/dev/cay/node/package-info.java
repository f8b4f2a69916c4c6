/// One machine that runs sandboxes. {@link dev.cay.node.CayNode} puts the rooms below together by plain `new`.
@NullMarked
package dev.cay.node;

import org.jspecify.annotations.NullMarked;
