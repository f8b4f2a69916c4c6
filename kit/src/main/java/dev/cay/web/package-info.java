/// HTTP requests that the daemon makes to addresses that users name. Start with {@link dev.cay.web.Dialer}.
///
/// The daemon makes them from the host, where more can be reached than users may see. So every connection is made
/// by the dialer, to an address that it has checked itself.
@NullMarked
package dev.cay.web;

import org.jspecify.annotations.NullMarked;
