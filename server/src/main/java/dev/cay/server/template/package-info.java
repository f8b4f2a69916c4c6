/// What sandboxes are made from: names, layers, sizes, and what was saved of other sandboxes.
///
/// Start at {@link dev.cay.server.template.Templates}. Building them is not here.
@NullMarked
package dev.cay.server.template;

import org.jspecify.annotations.NullMarked;
