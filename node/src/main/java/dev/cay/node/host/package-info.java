/// What a node takes of its host: names, uid ranges and addresses, one {@link dev.cay.node.host.Slot} per sandbox.
@NullMarked
package dev.cay.node.host;

import org.jspecify.annotations.NullMarked;
