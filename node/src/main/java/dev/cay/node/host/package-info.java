/// What a node takes of its host: names, uid ranges and addresses, one {@link dev.cay.node.host.Slot} per sandbox;
/// kernel settings ({@link dev.cay.node.host.Sysctls}) and programs ({@link dev.cay.node.host.Programs}). What several
/// Cays of one host must agree on is in the {@link dev.cay.node.host.HostLedger}.
@NullMarked
package dev.cay.node.host;

import org.jspecify.annotations.NullMarked;
