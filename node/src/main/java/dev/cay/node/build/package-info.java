/// Builds of templates: {@link dev.cay.node.build.Builds} runs the steps of a build one after the other, each in a
/// sandbox of its own on the layers so far, and keeps the sandbox's changes as the next layer.
///
/// The key of a step is a hash of all that it depends on, so the result of an earlier run is found again.
@NullMarked
package dev.cay.node.build;

import org.jspecify.annotations.NullMarked;
