package dev.cay.wire.node;

/// How much of the machine a sandbox may use.
public record Resources(int cpuCount, int memoryMB, int diskSizeMB) {
    public Resources withMemoryOfAtLeast(int megabytes) {
        return new Resources(cpuCount, Math.max(memoryMB, megabytes), diskSizeMB);
    }

    public Resources withDiskOfAtLeast(int megabytes) {
        return new Resources(cpuCount, memoryMB, Math.max(diskSizeMB, megabytes));
    }
}
