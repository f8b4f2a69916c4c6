package dev.cay.node.linux;

/// The pages in which the kernel counts memory: 4 KB on most machines, 16 or 64 KB on some with ARM processors.
public final class MemoryPages {
    private static final NativeCall SYSCONF = NativeCall.wide("sysconf");
    private static final int PAGE_SIZE = 30;

    /// Bytes of a page.
    public static final long SIZE = size();

    private MemoryPages() {}

    private static long size() {
        try {
            return SYSCONF.call(PAGE_SIZE);
        } catch (ErrnoException e) {
            throw new IllegalStateException("the kernel does not say how large its pages are", e);
        }
    }
}
