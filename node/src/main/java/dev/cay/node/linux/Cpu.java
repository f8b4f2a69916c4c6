package dev.cay.node.linux;

/// Constants that differ between CPUs. Most of Linux does not; a wrong `O_DIRECTORY` is EINVAL at best.
///
/// @param directory  `O_DIRECTORY`
/// @param noFollow   `O_NOFOLLOW`
/// @param epollEvent size of `struct epoll_event`: packed on x86-64
record Cpu(int directory, int noFollow, int epollEvent) {
    static final Cpu HERE = of(System.getProperty("os.arch"));

    static Cpu of(String name) {
        return switch (name) {
            case "amd64", "x86_64" -> new Cpu(0x10000, 0x20000, 12);
            case "aarch64" -> new Cpu(0x4000, 0x8000, 16);
            default -> throw new UnsupportedOperationException("Cay runs on x86-64 and aarch64, not on " + name);
        };
    }

    /// Offset of `data` in `struct epoll_event`.
    int epollData() {
        return epollEvent - 8;
    }
}
