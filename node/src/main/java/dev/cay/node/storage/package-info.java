/// Where sandboxes' writable layers lie: one {@link dev.cay.node.storage.Pool} per node.
///
/// What is in a layer, and what is mounted over what, is not known here.
@NullMarked
package dev.cay.node.storage;

import org.jspecify.annotations.NullMarked;
