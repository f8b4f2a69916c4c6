package dev.cay.node.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

@Fast
final class RecipeTest {
    @Test
    void changesItsKeyWithEverythingThatIsInTheTree() {
        var recipe = Recipe.of("code-interpreter-lite");
        var files = recipe.files();
        var other = new Recipe.Files(
                files.packages() + "cowsay\n",
                files.dpkg(),
                files.versions(),
                files.modules(),
                files.languages(),
                files.resources(),
                files.setup(),
                files.extras());
        var modules = new Recipe.Files(
                files.packages(),
                files.dpkg(),
                files.versions(),
                files.modules() + "left-pad@1.0.0\n",
                files.languages(),
                files.resources(),
                files.setup(),
                files.extras());
        var extras = new Recipe.Files(
                files.packages(),
                files.dpkg(),
                files.versions(),
                files.modules(),
                files.languages(),
                files.resources(),
                files.setup(),
                new TreeMap<>(Map.of("server", "1")));
        assertThat(recipe.key("x64"))
                .startsWith("code-interpreter-lite-")
                .isEqualTo(new Recipe(recipe.name(), recipe.included(), files).key("x64"))
                .isNotEqualTo(recipe.key("arm64"))
                .isNotEqualTo(new Recipe(recipe.name(), recipe.included(), other).key("x64"))
                .isNotEqualTo(new Recipe(recipe.name(), recipe.included(), modules).key("x64"))
                .isNotEqualTo(new Recipe(recipe.name(), recipe.included(), extras).key("x64"))
                .isNotEqualTo(new Recipe(recipe.name(), null, files).key("x64"));
    }

    @Test
    void whatItSaysOfResourcesGoesBeforeWhatTheIncludedOneSays() {
        assertThat(Recipe.of("base").memoryMB()).isZero();
        assertThat(Recipe.of("code-interpreter-v1").memoryMB()).isEqualTo(1024);
        assertThat(Recipe.of("code-interpreter-v1").spaceMB())
                .isGreaterThan(Recipe.of("code-interpreter-lite").spaceMB());
    }

    @Test
    void goesOnWhereTheIncludedOneEnds() {
        var recipe = Recipe.of("code-interpreter-v1");
        assertThat(recipe.packageList())
                .contains("sudo", "python3-ipython", "python3-scipy", "r-base-core")
                .doesNotHaveDuplicates()
                .containsAll(Recipe.of("base").packageList());
        assertThat(recipe.setups())
                .hasSize(3)
                .first()
                .isEqualTo(Recipe.of("base").setups().getFirst());
        assertThat(recipe.version("node")).isEqualTo(Recipe.of("base").version("node"));
        assertThat(recipe.dpkgOptions()).isEqualTo(Recipe.of("base").dpkgOptions());
        assertThat(recipe.modules())
                .isEqualTo(Recipe.of("code-interpreter-lite").modules())
                .isNotEmpty();
    }

    @Test
    void hasAnInterpreterWhereItsNameSaysSo() {
        assertThat(Recipe.of("base").languages()).isEmpty();
        assertThat(Recipe.of("code-interpreter-lite").languages())
                .containsExactly("python", "javascript", "typescript", "bash");
        assertThat(Recipe.of("code-interpreter-v1").languages())
                .containsExactly("python", "javascript", "typescript", "bash", "r", "java");
    }

    @Test
    void mayHaveFilesAndSomethingThatRuns() {
        var recipe = Recipe.of("httpbin");
        assertThat(recipe.extras()).containsOnlyKeys("server.mjs");
        assertThat(recipe.extras().get("server.mjs")).contains("8080");
        var start = recipe.start().orElseThrow();
        assertThat(start.command()).contains("server.mjs");
        assertThat(start.ready()).contains("8080");
        assertThat(start.user()).isEqualTo("user");
        assertThat(Recipe.of("base").start()).isEmpty();
    }

    @Test
    void saysWhichThereAre() {
        assertThatThrownBy(() -> Recipe.of("windows"))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("base, code-interpreter-v1, code-interpreter-lite");
        for (String name : Recipe.NAMES) {
            var recipe = Recipe.of(name);
            assertThat(recipe.sizeMB() > 0 || !recipe.hasContent()).as(name).isTrue();
            for (var below = recipe.standsOn(); below.isPresent(); below = recipe.standsOn()) {
                recipe = Recipe.of(below.get());
            }
            assertThat(recipe.packageList())
                    .as(name)
                    .contains("python3", "ripgrep")
                    .doesNotContain("");
        }
    }
}
