/// HTTP requests that the node makes to addresses that users name. Start with {@link dev.cay.node.web.Dialer}.
///
/// The node makes them from the host, where more can be reached than users may see. So every connection is made by the
/// dialer, to an address that it has checked itself.
@NullMarked
package dev.cay.node.web;

import org.jspecify.annotations.NullMarked;
