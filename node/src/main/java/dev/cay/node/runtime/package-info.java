/// Runs containers: the only package that knows OCI bundles, runc, CRIU and cgroups.
///
/// Start reading at {@link dev.cay.node.runtime.ContainerRuntime}. {@link dev.cay.node.runtime.RuncRuntime} writes a
/// bundle, lets `cay-guest launch` mount the root file system in a mount namespace of its own and run runc there. This
/// package does not know what runs inside the sandbox, or who may reach it.
@NullMarked
package dev.cay.node.runtime;

import org.jspecify.annotations.NullMarked;
