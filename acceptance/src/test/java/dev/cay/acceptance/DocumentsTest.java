package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// Documents that name classes name those that are there.
final class DocumentsTest {
    private static final Pattern CLASS_NAME = Pattern.compile("`([A-Z][a-z]+[A-Za-z]*)`");
    private static final Path ARCHITECTURE = Path.of("../docs/ARCHITECTURE.md");

    @Test
    void theArchitecturePageNamesOnlyClassesThatExist() throws Exception {
        Set<String> known = new ClassFileImporter()
                .importPackages("dev.cay").stream()
                        .map(JavaClass::getSimpleName)
                        .collect(Collectors.toSet());
        Set<String> missing = new TreeSet<>();
        var names = CLASS_NAME.matcher(Files.readString(ARCHITECTURE));
        while (names.find()) {
            if (!known.contains(names.group(1)) && !names.group(1).equals("CodeFont")) {
                missing.add(names.group(1));
            }
        }
        assertThat(missing).isEmpty();
    }

    @Test
    void noPathOfARequestIsLongerThanSevenHops() throws Exception {
        var text = Files.readString(ARCHITECTURE);
        var section = text.substring(text.indexOf("## 5. "), text.indexOf("## 6."));
        var requests = section.split("\\*\\*[^*]+\\*\\* — ");
        assertThat(requests).hasSizeGreaterThan(4);
        assertThat(section).doesNotContain("8. ");
    }

    @Test
    void theCompatibilityPageIsWhatTheClientsFound() throws Exception {
        if (Files.exists(CompatibilityReport.DIRECTORY)) {
            try (var parts = Files.list(CompatibilityReport.DIRECTORY)) {
                for (var part : parts.toList()) {
                    assertThat(Files.readString(Path.of("../docs/compatibility.md")))
                            .as("run: cat acceptance/target/compatibility/*.md > docs/compatibility.md")
                            .contains(Files.readString(part));
                }
            }
        }
    }
}
