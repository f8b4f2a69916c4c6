/// Templates: names, layers, sizes, and snapshots of sandboxes.
///
/// Start at {@link dev.cay.server.template.Templates}. Package `build` builds them.
@NullMarked
package dev.cay.server.template;

import org.jspecify.annotations.NullMarked;
