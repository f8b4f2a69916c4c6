package dev.cay.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Fast
class JsonTest {
    private record Body(
            @Nullable String text,
            @Nullable Integer number,
            @Nullable Boolean yes,
            @Nullable Map<String, String> map) {}

    @Test
    void readsWhatIsThereAndNothingElse() {
        assertThat(Json.read("{\"text\": \"5\", \"number\": 5, \"other\": []}", Body.class))
                .isEqualTo(new Body("5", 5, null, null));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "{\"text\": 5}; text must be a string",
                "{\"text\": 5.5}; text must be a string",
                "{\"text\": true}; text must be a string",
                "{\"text\": [\"a\"]}; text must be a string",
                "{\"map\": {\"a\": 1}}; map.a must be a string",
                "{\"number\": \"5\"}; number must be a number",
                "{\"number\": 5.7}; number must be a number",
                "{\"yes\": 1}; yes must be true or false",
            })
    void guessesNoTypes(String json, String complaint) {
        assertThatThrownBy(() -> Json.read(json, Body.class))
                .isInstanceOf(CayException.class)
                .hasMessageContaining(complaint);
    }
}
