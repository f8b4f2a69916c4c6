/// The interface of a node for servers. Servers use nodes only through it, in one process or between machines.
@NullMarked
package dev.cay.wire.node;

import org.jspecify.annotations.NullMarked;
