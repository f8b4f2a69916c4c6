/// What a server may ask of a node. The only way from one to the other, in one process or between machines.
@NullMarked
package dev.cay.wire.node;

import org.jspecify.annotations.NullMarked;
