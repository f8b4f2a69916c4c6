/// Tokens by which sandboxes prove to others who they are.
@NullMarked
package dev.cay.server.identity;

import org.jspecify.annotations.NullMarked;
