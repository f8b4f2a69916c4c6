/// Tokens by which a sandbox proves its identity to other services.
@NullMarked
package dev.cay.server.identity;

import org.jspecify.annotations.NullMarked;
