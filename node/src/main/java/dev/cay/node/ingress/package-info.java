/// What a sandbox's port 49983 answers: {@link dev.cay.node.ingress.Envd}, the face E2B's clients know as envd.
///
/// Each class is one group of routes over {@link dev.cay.node.process.ProcessTable}, {@link
/// dev.cay.node.files.FileTree} or {@link dev.cay.node.watch.Watches}. Who may reach a sandbox is decided before.
@NullMarked
package dev.cay.node.ingress;

import org.jspecify.annotations.NullMarked;
