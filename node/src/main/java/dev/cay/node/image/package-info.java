/// Root file systems: {@link dev.cay.node.image.LayerStore} keeps the layers, {@link dev.cay.node.image.BaseTemplate}
/// and {@link dev.cay.node.image.NodeLayer} make the two that every sandbox has.
///
/// A layer is a directory with 0-based ownership that never changes once it has its name, which is a hash of what it
/// was made from. This room does not mount anything.
@NullMarked
package dev.cay.node.image;

import org.jspecify.annotations.NullMarked;
