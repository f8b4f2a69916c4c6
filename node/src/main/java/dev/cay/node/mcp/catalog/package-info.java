/// Which MCP servers there are, and what it takes to start one: `catalog/servers.yaml`, catalogs of the
/// operator's own, and what the operator says about entries.
///
/// Begin with {@link dev.cay.node.mcp.catalog.Catalog}: it finds an entry, and makes a
/// {@link dev.cay.node.mcp.catalog.ServerPlan} of it and a user's options. Options hold credentials: no message
/// and no `toString` of this room ever has a value. What must not be known here: how anything is started.
@NullMarked
package dev.cay.node.mcp.catalog;

import org.jspecify.annotations.NullMarked;
