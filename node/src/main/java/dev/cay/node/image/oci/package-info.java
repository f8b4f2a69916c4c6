/// Images of registries and of archives: {@link dev.cay.node.image.oci.Images} pulls or loads one, and its layers
/// become layers of the {@link dev.cay.node.image.LayerStore}.
///
/// Start with {@link dev.cay.node.image.oci.LayerUnpacker}, which turns a layer's archive into a directory for
/// overlayfs, and {@link dev.cay.node.image.oci.Registry}, which talks to a registry. All data of a registry or an
/// archive is hostile: it is read with limits, and bytes count only once their digest is verified. This package mounts
/// nothing and does not know what a sandbox is.
@NullMarked
package dev.cay.node.image.oci;

import org.jspecify.annotations.NullMarked;
