package dev.cay.node.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

@Fast
class MemoryPagesTest {
    @Test
    void areAsLargeAsTheKernelSaysOfTheProgramItself() throws Exception {
        String line = Files.readAllLines(Path.of("/proc/self/smaps")).stream()
                .filter(each -> each.startsWith("KernelPageSize:"))
                .findFirst()
                .orElseThrow();
        assertThat(MemoryPages.SIZE / 1024).isEqualTo(Long.parseLong(line.replaceAll("\\D", "")));
    }
}
