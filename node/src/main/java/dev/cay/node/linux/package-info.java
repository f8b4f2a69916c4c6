/// Linux system calls: the only package that calls C, by Java's foreign function interface.
///
/// {@link dev.cay.node.linux.Descriptor} owns a file descriptor; each other class has one group of calls. Three of them
/// own threads: {@link dev.cay.node.linux.FdPoller} watches descriptors, {@link dev.cay.node.linux.HostThreads} runs
/// blocking calls, {@link dev.cay.node.linux.NetNamespace} enters a sandbox's network with them. A call that may block
/// is never made on a virtual thread, because it would block its carrier. This package does not know what a sandbox is.
@NullMarked
package dev.cay.node.linux;

import org.jspecify.annotations.NullMarked;
