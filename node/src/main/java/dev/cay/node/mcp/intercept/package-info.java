/// The operator's interceptors of tool calls: programs and addresses that check calls, change or deny them.
///
/// {@link dev.cay.node.mcp.intercept.CallWatch} calls them. A broken interceptor denies every call.
@NullMarked
package dev.cay.node.mcp.intercept;

import org.jspecify.annotations.NullMarked;
