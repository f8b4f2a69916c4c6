/// Linux by system call: the only room that crosses into C, by Java's foreign function interface.
///
/// {@link dev.cay.node.linux.Descriptor} owns a file descriptor; the other classes are one theme of calls each. Three
/// of them own threads: {@link dev.cay.node.linux.FdPoller} watches descriptors, {@link
/// dev.cay.node.linux.HostThreads} runs what may block, {@link dev.cay.node.linux.NetNamespace} hops into a sandbox's
/// network with them. A call that may block is never made on a virtual thread: it would hold its carrier. Nothing
/// here knows what a sandbox is.
@NullMarked
package dev.cay.node.linux;

import org.jspecify.annotations.NullMarked;
