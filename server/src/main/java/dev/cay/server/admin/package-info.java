/// The operator's routes for teams: {@link dev.cay.server.admin.TeamAdminRoutes}.
@NullMarked
package dev.cay.server.admin;

import org.jspecify.annotations.NullMarked;
