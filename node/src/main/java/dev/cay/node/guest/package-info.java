/// The node's end of the guest's protocol (`guest/PROTOCOL.md`): {@link dev.cay.node.guest.GuestLink}.
///
/// Root in a sandbox can speak for its guest, so every frame is read as an attacker's: with limits, and any doubt ends
/// the link. What the frames mean for a command is not known here.
@NullMarked
package dev.cay.node.guest;

import org.jspecify.annotations.NullMarked;
