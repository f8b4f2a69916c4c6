/// The host resources of a node: names, uid ranges and addresses, one {@link dev.cay.node.host.Slot} per sandbox;
/// kernel settings ({@link dev.cay.node.host.Sysctls}) and programs ({@link dev.cay.node.host.Programs}). Several Cays
/// of one host coordinate through the {@link dev.cay.node.host.HostLedger}.
@NullMarked
package dev.cay.node.host;

import org.jspecify.annotations.NullMarked;
