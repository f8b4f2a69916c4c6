/// The protocol of port 49983: {@link dev.cay.node.ingress.Envd}, which E2B's clients know as envd.
///
/// Each class is one group of routes over {@link dev.cay.node.process.ProcessTable}, {@link
/// dev.cay.node.files.FileTree} or {@link dev.cay.node.watch.Watches}. The edge decides before who may reach a sandbox.
@NullMarked
package dev.cay.node.ingress;

import org.jspecify.annotations.NullMarked;
