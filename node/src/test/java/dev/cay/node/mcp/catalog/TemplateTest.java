package dev.cay.node.mcp.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Fast
final class TemplateTest {
    private static final Map<String, Value> OPTIONS = Map.of(
            "path", Value.of("/a", false),
            "mount", Value.of("/a:/b:ro", false),
            "paths", new Value(List.of("/a", "/b"), false),
            "token", Value.of("s3cret", true),
            "sly", Value.of("${cfg.token} $TOKEN ${env.TOKEN|or:x} $$", false),
            "empty", Value.of("", false));

    private static final Map<String, Value> VARIABLES = Map.of("TOKEN", Value.of("s3cret", true));

    private static Value evaluate(String text) {
        return Template.parse(text)
                .evaluate(reference -> (reference.source() == Template.Source.OPTION ? OPTIONS : VARIABLES)
                        .getOrDefault(reference.name(), Value.NOTHING));
    }

    /// Items are joined by blanks in the table; `none` stands for no item at all.
    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '"',
            value = {
                "plain; plain",
                "--x=${cfg.path}; --x=/a",
                "${cfg.path}${cfg.path}; /a/a",
                "${cfg.path|mount}; /a:/a",
                "${cfg.paths|mount}; /a:/a,/b:/b",
                "${cfg.paths|mount|each}; /a:/a /b:/b",
                "${cfg.paths|target|each}; /a /b",
                "--p=${cfg.paths|each}/; --p=/a/ --p=/b/",
                "${cfg.mount|target}; /b",
                "${cfg.path|mount|target}; /a",
                "${cfg.path|each}; /a",
                "${cfg.paths}; /a,/b",
                "${cfg.paths|first}; /a",
                "${cfg.paths|last}; /b",
                "${cfg.path|first}; /a",
                "${cfg.missing|or:x y}; x y",
                "${cfg.empty|or:x}; x",
                "${cfg.path|or:x}; /a",
                "${cfg.missing|or:|mount|each}; none",
                "${cfg.missing|each}; none",
                "${cfg.missing|first|mount}; \"\"",
                "a${cfg.missing}b; ab",
                "Bearer ${env.TOKEN}; Bearer s3cret",
                "Bearer $TOKEN; Bearer s3cret",
                "Bearer ${TOKEN}; Bearer s3cret",
                "$TOKEN.$TOKEN; s3cret.s3cret",
                "a $$TOKEN; a $TOKEN",
                "$$$TOKEN; $s3cret",
                "1 $ 2 $; 1 $ 2 $",
                "{\"a\": \"$TOKEN\"}; {\"a\": \"s3cret\"}",
                "${cfg.sly}; ${cfg.token} $TOKEN ${env.TOKEN|or:x} $$"
            })
    void putsValuesIntoPlaces(String template, String expected) {
        var items = evaluate(template).items();
        assertThat(items.isEmpty() ? "none" : String.join(" ", items)).isEqualTo(expected);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = ';',
            value = {
                "${cfg.path; without its }",
                "${}; names neither",
                "${cfg.}; names neither",
                "${cfg.a b}; names neither",
                "${cfg.a.b}; names neither",
                "${cfg.path|mont}; did you mean mount?",
                "${cfg.path|}; unknown filter",
                "${cfg.path|or}; takes a text",
                "${cfg.path|mount:x}; takes nothing",
                "${cfg.a|each}${cfg.b|each}; more than once"
            })
    void refusesWhatItDoesNotUnderstand(String template, String why) {
        assertThatThrownBy(() -> Template.parse(template)).hasMessageContaining(why);
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource(
            delimiter = ';',
            value = {
                "x ${cfg.token}; true",
                "$TOKEN; true",
                "${cfg.token|first}; true",
                "${cfg.path}; false",
                "${cfg.missing|or:x}; false"
            })
    void knowsWhereASecretWentAndPrintsNone(String template, boolean secret) {
        assertThat(evaluate(template).secret()).isEqualTo(secret);
        assertThat(evaluate(template)).asString().doesNotContain("s3cret").doesNotContain("/a");
    }
}
