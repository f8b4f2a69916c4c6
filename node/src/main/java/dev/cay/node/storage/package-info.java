/// The disk for sandboxes' writable layers: one {@link dev.cay.node.storage.Pool} per node.
///
/// This package does not know the content of layers, or how they are mounted.
@NullMarked
package dev.cay.node.storage;

import org.jspecify.annotations.NullMarked;
