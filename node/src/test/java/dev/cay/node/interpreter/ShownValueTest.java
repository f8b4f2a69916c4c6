package dev.cay.node.interpreter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

@Fast
class ShownValueTest {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private static String written(String line) throws Exception {
        byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
        assertThat(Dialect.read(bytes)).containsInstanceOf(RunnerEvent.Shown.class);
        var to = new ByteArrayOutputStream();
        new ShownValue(bytes).write(to);
        return to.toString(StandardCharsets.UTF_8);
    }

    private static JsonNode read(String data) throws Exception {
        return JSON.readTree(written("{\"event\": \"result\", \"main\": true, \"data\": %s}".formatted(data)));
    }

    @Test
    void knownTypesHaveNamesAndOthersAreTogether() throws Exception {
        var value = read("""
                {"text/plain": "1", "image/png": "aGk=", "e2b/chart": {"type": "line"}, "x/y": [1, {"a": null}], "z": 2}""");
        assertThat(value).isEqualTo(JSON.readTree("""
                {"type": "result", "text": "1", "png": "aGk=", "chart": {"type": "line"}, "is_main_result": true,
                 "extra": {"x/y": [1, {"a": null}], "z": 2}}"""));
    }

    @Test
    void aValueThatIsNothingIsLeftOut() throws Exception {
        assertThat(read("{\"text/html\": null, \"text/plain\": \"a\", \"u\": null}"))
                .isEqualTo(JSON.readTree(
                        "{\"type\": \"result\", \"text\": \"a\", \"is_main_result\": true, \"extra\": {}}"));
    }

    @Test
    void onePairOfQuotesIsTakenOffATextAndNothingElse() throws Exception {
        assertThat(read("{\"text/plain\": \"'a'\"}").get("text").asString()).isEqualTo("a");
        assertThat(read("{\"text/plain\": \"\\\"a\\\\\\\"\"}").get("text").asString())
                .isEqualTo("a\\");
        assertThat(read("{\"text/plain\": \"''\"}").get("text").asString()).isEmpty();
        assertThat(read("{\"text/plain\": \"\\\"\\\"\"}").get("text").asString())
                .isEmpty();
        for (String kept : new String[] {"'", "\\\"", "'a", "a'", "\\\"a'", "", "''"}) {
            assertThat(read("{\"text/html\": \"%s\"}".formatted(kept)).get("html"))
                    .isEqualTo(JSON.readTree("\"%s\"".formatted(kept)));
        }
        for (String kept : new String[] {"'", "\\\"", "'a", "a'", "\\\"a'", "\\\\"}) {
            assertThat(read("{\"text/plain\": \"%s\"}".formatted(kept)).get("text"))
                    .isEqualTo(JSON.readTree("\"%s\"".formatted(kept)));
        }
        assertThat(read("{\"text/plain\": {\"a\": 1}}").get("text").get("a").asInt())
                .isEqualTo(1);
    }

    @Test
    void aLineIsAsciiAndOneLineInAllEyes() throws Exception {
        String line = written(
                "{\"event\":\"result\",\"data\":{\"application/json\"\r:\t{\"a\":\r[1\r,\"\u2028\ud83d\ude00ü\u0085\"]}\r,"
                        + "\"ü\":1}\r}");
        assertThat(line).matches("[ -~]*\n");
        assertThat(JSON.readTree(line).get("json").get("a").get(1).asString()).isEqualTo("\u2028\ud83d\ude00ü\u0085");
        assertThat(JSON.readTree(line).get("extra").get("ü").asInt()).isEqualTo(1);
    }

    @Test
    void numbersOfAnyLengthPassAsTheyAre() throws Exception {
        String number = "1" + "0".repeat(200_000) + "e999999999";
        assertThat(written("{\"event\":\"result\",\"data\":{\"application/json\":" + number + "}}"))
                .contains(": " + number + ",");
    }

    /// What is read is what was shown, whatever it is.
    @RepeatedTest(200)
    void anythingPasses(RepetitionInfo repetition) throws Exception {
        var random = new Random(repetition.getCurrentRepetition());
        var data = JSON.createObjectNode();
        for (String type : new String[] {"text/html", "image/png", "application/json", "e2b/data", "any/thing", "ü"}) {
            if (random.nextBoolean()) {
                data.set(type, any(random, 0));
            }
        }
        var value = (ObjectNode) read(
                random.nextBoolean() ? data.toString() : data.toPrettyString().replace('\n', ' '));
        var expected = JSON.createObjectNode();
        expected.put("type", "result").put("is_main_result", true);
        var extra = expected.putObject("extra");
        data.properties().forEach(entry -> {
            switch (entry.getKey()) {
                case "text/html" -> expected.set("html", entry.getValue());
                case "image/png" -> expected.set("png", entry.getValue());
                case "application/json" -> expected.set("json", entry.getValue());
                case "e2b/data" -> expected.set("data", entry.getValue());
                default -> extra.set(entry.getKey(), entry.getValue());
            }
        });
        assertThat(value).isEqualTo(expected);
    }

    private static JsonNode any(Random random, int depth) {
        return switch (random.nextInt(depth > 3 ? 4 : 6)) {
            case 0 -> JSON.getNodeFactory().stringNode(text(random));
            case 1 -> JSON.getNodeFactory().numberNode(random.nextInt());
            case 2 -> JSON.getNodeFactory().booleanNode(random.nextBoolean());
            case 3 -> JSON.getNodeFactory().stringNode("'" + text(random) + "\"");
            case 4 -> {
                var list = JSON.createArrayNode();
                random.ints(random.nextInt(4)).forEach(_ -> list.add(any(random, depth + 1)));
                yield list;
            }
            default -> {
                var object = JSON.createObjectNode();
                random.ints(random.nextInt(4)).forEach(_ -> object.set(text(random), any(random, depth + 1)));
                yield object;
            }
        };
    }

    private static String text(Random random) {
        return random.ints(random.nextInt(random.nextInt(20) == 0 ? 20_000 : 12), 0, 0x11_0000)
                .filter(point -> point < 0xd800 || point > 0xdfff)
                .map(point -> random.nextBoolean() ? point % 128 : point)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }
}
