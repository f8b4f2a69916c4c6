/// The machines that run sandboxes. One today; the seam where placement will be decided.
@NullMarked
package dev.cay.server.fleet;

import org.jspecify.annotations.NullMarked;
