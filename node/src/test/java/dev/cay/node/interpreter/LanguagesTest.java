package dev.cay.node.interpreter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.util.Map;
import org.junit.jupiter.api.Test;

@Fast
final class LanguagesTest {
    @Test
    void namesProgramsThatAreNotTheUsualOnes() {
        var languages = Languages.read("python /usr/local/bin/python3\njavascript\n", false);
        assertThat(languages.programs())
                .isEqualTo(Map.of(
                        Language.PYTHON, "/usr/local/bin/python3", Language.JAVASCRIPT, Language.JAVASCRIPT.program()));
        assertThat(languages.names()).isEqualTo("javascript, python");
    }

    @Test
    void leavesOutLinesThatMakeNoSense() {
        String list = "cobol\n\n  \npython bin/python3\nbash /bin/\0sh\nr " + "/x".repeat(1000)
                + "\ntypescript /usr/bin/node\n";
        assertThat(Languages.read(list, true).programs()).containsOnlyKeys(Language.TYPESCRIPT);
        assertThat(Languages.read("", true).isEmpty()).isTrue();
    }

    @Test
    void startsNothingByItselfOnDemand() {
        assertThat(Languages.read("python\nbash\njavascript", true).eager())
                .containsExactly(Language.PYTHON, Language.JAVASCRIPT);
        assertThat(Languages.read("python\njavascript", false).eager()).isEmpty();
    }
}
