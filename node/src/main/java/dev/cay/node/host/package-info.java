/// What a node takes of its host: names, uid ranges and addresses, one {@link dev.cay.node.host.Slot} per sandbox;
/// kernel settings ({@link dev.cay.node.host.Sysctls}) and programs ({@link dev.cay.node.host.Programs}).
@NullMarked
package dev.cay.node.host;

import org.jspecify.annotations.NullMarked;
