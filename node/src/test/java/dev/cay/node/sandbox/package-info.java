/// Whole sandboxes on this host, with pools, networks and runtimes of their own.
@NullMarked
package dev.cay.node.sandbox;

import org.jspecify.annotations.NullMarked;
