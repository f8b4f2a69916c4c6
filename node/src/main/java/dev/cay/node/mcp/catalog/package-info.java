/// The known MCP servers, and the plans for starting them: `catalog/servers.yaml`, the operator's own catalogs, and the
/// operator's overrides.
///
/// Begin with {@link dev.cay.node.mcp.catalog.Catalog}: it finds an entry, and makes a {@link
/// dev.cay.node.mcp.catalog.ServerPlan} of it and a user's options. Options contain credentials: no message and no
/// `toString` of this package has a value. The package does not know how anything is started.
@NullMarked
package dev.cay.node.mcp.catalog;

import org.jspecify.annotations.NullMarked;
