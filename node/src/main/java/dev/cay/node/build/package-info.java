/// Builds of templates: {@link dev.cay.node.build.Builds} runs the steps of a build one after the other, each in a
/// sandbox of its own on the layers so far, and keeps what the sandbox changed as the next layer.
///
/// A step is named by all that it depends on, so what was done once is found again.
@NullMarked
package dev.cay.node.build;

import org.jspecify.annotations.NullMarked;
