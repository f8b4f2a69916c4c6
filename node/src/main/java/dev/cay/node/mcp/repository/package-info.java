/// MCP servers that users bring as Git repositories: {@link dev.cay.node.mcp.repository.RepositoryLayers} makes
/// a layer of a commit and another one of what its installCmd wrote, both in side sandboxes of the owner.
///
/// A repository is hostile, and so is its address: git never runs on the host. The operator's tokens
/// ({@link dev.cay.node.mcp.repository.RepositoryTokens}) reach the git process and nothing else.
@NullMarked
package dev.cay.node.mcp.repository;

import org.jspecify.annotations.NullMarked;
