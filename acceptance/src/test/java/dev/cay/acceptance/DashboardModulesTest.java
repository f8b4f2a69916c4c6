package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// The modules of the dashboard's program know each other in one direction, as packages of the daemon do.
@Fast
final class DashboardModulesTest {
    private static final Path SOURCES = Path.of("../dashboard/src");
    private static final Pattern IMPORT = Pattern.compile("(?:from|import\\()\\s*'(\\.[^']+)'");

    @Test
    void modulesImportEachOtherInOneDirection() throws IOException {
        var imports = imports();
        assertThat(imports).hasSizeGreaterThan(40);
        assertThat(imports.get("main.tsx")).contains("pages/sandboxes.tsx");
        assertThat(circles(imports)).isEmpty();
    }

    @Test
    void seesACircle() {
        assertThat(circles(Map.of("a", List.of("b"), "b", List.of("c"), "c", List.of("b"))))
                .containsExactly("b → c → b");
    }

    /// What each module imports.
    private static Map<String, List<String>> imports() throws IOException {
        try (var files = Files.walk(SOURCES)) {
            var found = new TreeMap<String, List<String>>();
            for (var file :
                    files.filter(file -> file.toString().matches(".*\\.tsx?")).toList()) {
                var wanted = new ArrayList<String>();
                for (var match :
                        IMPORT.matcher(Files.readString(file)).results().toList()) {
                    var path = file.resolveSibling(match.group(1)).normalize();
                    List.of(path + ".ts", path + ".tsx").stream()
                            .map(Path::of)
                            .filter(Files::exists)
                            .forEach(there -> wanted.add(name(there)));
                }
                found.put(name(file.normalize()), wanted);
            }
            return found;
        }
    }

    private static String name(Path file) {
        return SOURCES.normalize().relativize(file).toString();
    }

    private static List<String> circles(Map<String, List<String>> imports) {
        var found = new ArrayList<String>();
        var done = new HashSet<String>();
        imports.keySet().stream().sorted().forEach(module -> follow(module, List.of(), imports, done, found));
        return found;
    }

    private static void follow(
            String module, List<String> way, Map<String, List<String>> imports, Set<String> done, List<String> found) {
        int before = way.indexOf(module);
        if (before >= 0) {
            found.add(String.join(" → ", way.subList(before, way.size())) + " → " + module);
            return;
        }
        if (!done.add(module)) {
            return;
        }
        var further = new ArrayList<>(way);
        further.add(module);
        imports.getOrDefault(module, List.of()).forEach(next -> follow(next, further, imports, done, found));
    }
}
