package dev.cay.platform;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.NeedsRoot;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(660)
@NeedsRoot
class NpmClientTest {
    @Test
    void isInstalledOnceForManyThreads() throws Exception {
        try (var threads = Executors.newFixedThreadPool(8)) {
            Callable<NpmClient> install = NpmClient::e2b;
            var installed =
                    threads.invokeAll(Stream.generate(() -> install).limit(500).toList());
            assertThat(installed.stream().map(Future::resultNow).distinct()).hasSize(1);
        }
    }
}
