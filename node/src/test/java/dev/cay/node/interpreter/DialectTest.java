package dev.cay.node.interpreter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Lines of a runner, which may be anybody's.
@Fast
class DialectTest {
    private static Object read(String line) throws ProtocolException {
        return Dialect.read(line.getBytes(StandardCharsets.UTF_8)).orElse(null);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "hello",
                "[1]",
                "5",
                "{",
                "{\"event\": \"out\", \"text\": \"a}",
                "{\"event\": \"out\", \"text\": NaN}",
                "{'event': 'out'}",
                "\u0000",
                "{\"event\": \"result\", \"data\": {\"a\": tru}}"
            })
    void whatIsNoLineIsRefused(String line) {
        assertThatThrownBy(() -> read(line)).isInstanceOf(ProtocolException.class);
    }

    @Test
    void depthAndTextsAreLimited() throws Exception {
        String deep = "{\"event\": \"result\", \"data\": " + "[".repeat(5000) + "]".repeat(5000) + "}";
        assertThatThrownBy(() -> read(deep)).isInstanceOf(ProtocolException.class);
        String half = "{\"event\": \"result\", \"data\": " + "[".repeat(1_000_000);
        assertThatThrownBy(() -> read(half)).isInstanceOf(ProtocolException.class);
        String text = "{\"event\": \"out\", \"text\": \"" + "x".repeat(5 << 20) + "\"}";
        assertThatThrownBy(() -> read(text)).isInstanceOf(ProtocolException.class);
        String shown = "{\"event\": \"result\", \"data\": {\"image/png\": \"" + "x".repeat(5 << 20) + "\"}}";
        assertThat(read(shown)).isInstanceOf(RunnerEvent.Shown.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"event\": 5}",
                "{\"event\": null}",
                "{\"event\": {\"event\": \"end\"}}",
                "{\"event\": \"unheard\"}",
                "{\"\": [[]]}"
            })
    void whatIsNotKnownIsNothing(String line) throws Exception {
        assertThat(read(line)).isNull();
    }

    @Test
    void aFieldOfAnotherTypeIsNoField() throws Exception {
        assertThat(read("{\"event\": \"out\", \"text\": {\"a\": [1]}}")).isEqualTo(new RunnerEvent.Printed(false, ""));
        assertThat(read("{\"event\": \"end\", \"id\": \"7\"}")).isEqualTo(new RunnerEvent.End(-1));
        assertThat(read("{\"event\": \"end\", \"id\": 7.0}")).isEqualTo(new RunnerEvent.End(-1));
        assertThat(read("{\"event\": \"end\", \"id\": 1%s}".formatted("0".repeat(100_000))))
                .isEqualTo(new RunnerEvent.End(-1));
        assertThat(read("{\"event\": \"begin\", \"id\": [], \"count\": true}"))
                .isEqualTo(new RunnerEvent.Begin(-1, -1));
        assertThat(read("{\"event\": \"error\", \"name\": 1, \"value\": \"v\"}"))
                .isEqualTo(new RunnerEvent.Failed("", "v", ""));
    }
}
