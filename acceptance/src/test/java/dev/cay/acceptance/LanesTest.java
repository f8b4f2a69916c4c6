package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.cay.testing.Fast;
import dev.cay.testing.NeedsRoot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.platform.commons.annotation.Testable;

/// Every class with tests says which lane it is in. `./cay test --fast` would leave out one that does not.
@Fast
final class LanesTest {
    private static final Path HOME = Path.of("..");

    @Test
    void everyClassWithTestsIsInOneLane() throws IOException {
        var tests = new ClassFileImporter()
                .importPaths(testClasses()).stream().filter(LanesTest::hasTests).toList();
        assertThat(tests).as("classes with tests").hasSizeGreaterThan(150);
        assertThat(tests.stream().filter(test -> !isInOneLane(test)).map(JavaClass::getName))
                .as("classes that need either @Fast or @NeedsRoot")
                .isEmpty();
    }

    /// The test classes of all modules. A module whose tests are not compiled fails here instead of being overlooked.
    private static List<Path> testClasses() throws IOException {
        var modules = Pattern.compile("<module>(\\w+)</module>").matcher(Files.readString(HOME.resolve("pom.xml")));
        var directories = modules.results()
                .map(module -> HOME.resolve(module.group(1)))
                .filter(module -> Files.isDirectory(module.resolve("src/test/java")))
                .map(module -> module.resolve("target/test-classes"))
                .toList();
        assertThat(directories).isNotEmpty().allMatch(Files::isDirectory, "compiled; run ./cay test");
        return directories;
    }

    private static boolean hasTests(JavaClass type) {
        return type.isTopLevelClass()
                && !type.getModifiers().contains(JavaModifier.ABSTRACT)
                && (type.getAllMethods().stream().anyMatch(method -> method.isMetaAnnotatedWith(Testable.class)));
    }

    private static boolean isInOneLane(JavaClass test) {
        return test.isAnnotatedWith(Fast.class) != test.isAnnotatedWith(NeedsRoot.class);
    }
}
