/// Secrets of teams: sealed in the database, readable by nobody, put into requests of sandboxes on their way out.
@NullMarked
package dev.cay.server.secret;

import org.jspecify.annotations.NullMarked;
