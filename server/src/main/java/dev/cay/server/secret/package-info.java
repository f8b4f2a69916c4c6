/// Secrets of teams: sealed in the database, never returned to clients, inserted into requests that leave sandboxes.
@NullMarked
package dev.cay.server.secret;

import org.jspecify.annotations.NullMarked;
