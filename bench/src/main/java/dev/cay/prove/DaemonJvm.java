package dev.cay.prove;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/// The virtual machine of a daemon, asked from outside.
record DaemonJvm(long pid) {
    private static final Pattern HEAP_USED = Pattern.compile("used (\\d+)K");

    /// What is in use when all garbage has been collected.
    long heapKB() throws IOException, InterruptedException {
        ask("GC.run");
        var heap = HEAP_USED.matcher(ask("GC.heap_info"));
        long used = 0;
        while (heap.find()) {
            used += Long.parseLong(heap.group(1));
        }
        if (used == 0) {
            throw new IOException("jcmd does not say how large the heap is");
        }
        return used;
    }

    private String ask(String command) throws IOException, InterruptedException {
        var process = new ProcessBuilder(System.getProperty("java.home") + "/bin/jcmd", Long.toString(pid), command)
                .redirectErrorStream(true)
                .start();
        var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException("jcmd %s: %s".formatted(command, output.strip()));
        }
        return output;
    }
}
