package dev.cay.prove;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/// What a process has open at one moment, by kind: what differs only in numbers is the same kind.
record OpenDescriptors(Map<String, Long> kinds) {
    static OpenDescriptors of(long process) throws IOException {
        try (var open = Files.list(Path.of("/proc", Long.toString(process), "fd"))) {
            return new OpenDescriptors(
                    open.collect(Collectors.groupingBy(OpenDescriptors::kind, TreeMap::new, Collectors.counting())));
        }
    }

    private static String kind(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().replaceAll("\\d+", "N");
        } catch (IOException e) {
            return "closed meanwhile";
        }
    }

    long count() {
        return kinds.values().stream().mapToLong(Long::longValue).sum();
    }

    /// Which kinds there are more of than before.
    String moreThan(OpenDescriptors before) {
        return kinds.entrySet().stream()
                .filter(kind -> kind.getValue() > before.kinds.getOrDefault(kind.getKey(), 0L))
                .map(kind -> "%s %d → %d"
                        .formatted(kind.getKey(), before.kinds.getOrDefault(kind.getKey(), 0L), kind.getValue()))
                .collect(Collectors.joining(", "));
    }
}
