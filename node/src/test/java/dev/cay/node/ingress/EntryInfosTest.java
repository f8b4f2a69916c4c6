package dev.cay.node.ingress;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.util.JsonFormat;
import dev.cay.node.files.Entry;
import dev.cay.node.files.SandboxPath;
import dev.cay.testing.Fast;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Fast
class EntryInfosTest {
    /// Root inside can give a file any time, and its directory must be listed all the same.
    @ParameterizedTest
    @CsvSource({
        "2026-11-19T01:02:03.500Z, 2026-11-19T01:02:03.500Z",
        "+20000-01-01T00:00:00Z, 9999-12-31T23:59:59.999999999Z",
        "-0001-01-01T00:00:00Z, 0001-01-01T00:00:00Z"
    })
    void tellsTheNearestTimeThatTheProtocolKnows(Instant modified, String told) throws Exception {
        var entry = new Entry(
                new SandboxPath("/file"),
                Entry.Type.FILE,
                0,
                0644,
                "-rw-r--r--",
                "user",
                "user",
                modified,
                null,
                Map.of());
        assertThat(JsonFormat.printer().print(EntryInfos.of(entry, false))).contains("\"" + told + "\"");
    }
}
