/// Root file systems: {@link dev.cay.node.image.LayerStore} keeps the layers, {@link dev.cay.node.image.HouseTemplate}
/// makes those of a template from its recipe, {@link dev.cay.node.image.NodeLayer} the one that every sandbox has.
///
/// {@link dev.cay.node.image.UnusedLayers} removes layers that no instance of the host claims.
///
/// A layer is a directory with 0-based ownership that never changes once it has its name, which is a hash of its
/// inputs. This package mounts nothing.
@NullMarked
package dev.cay.node.image;

import org.jspecify.annotations.NullMarked;
