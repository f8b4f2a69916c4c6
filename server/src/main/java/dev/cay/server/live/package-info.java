/// What changes, sent while it changes: the sandboxes of a team as a stream of server-sent events.
///
/// Start at {@link dev.cay.server.live.LiveRoutes}. A {@link dev.cay.server.live.TeamFeed} looks at a team's sandboxes
/// once a second, as long as somebody reads, and all readers get the same bytes.
@NullMarked
package dev.cay.server.live;

import org.jspecify.annotations.NullMarked;
