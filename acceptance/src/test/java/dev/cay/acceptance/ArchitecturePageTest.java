package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import dev.cay.connect.ConnectRoutes;
import dev.cay.http.Routes;
import dev.cay.node.runtime.ContainerRuntime;
import dev.cay.testing.Fast;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// ARCHITECTURE.md says where everything is: its tables have all packages, routes and tables of the code, and nothing
/// else. A newcomer who adds one finds its place there.
@Fast
final class ArchitecturePageTest {
    private static final Path PAGE = Path.of("../docs/ARCHITECTURE.md");
    private static final Path MIGRATIONS = Path.of("../server/src/main/resources/dev/cay/server/store/migrations");

    /// A word in code font.
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");

    /// One row of a table about packages.
    ///
    /// @param packages as in the first column, without the module's prefix
    private record Row(List<String> packages, List<String> cells) {
        static Row of(String line) {
            var cells = Arrays.stream(line.split("\\|", -1)).map(String::strip).toList();
            return new Row(words(cells.get(1)), cells);
        }

        /// Words in code font in all columns.
        List<String> words() {
            return words(String.join(" ", cells));
        }

        private static List<String> words(String text) {
            return CODE.matcher(text).results().map(found -> found.group(1)).toList();
        }
    }

    @Test
    void theTablesHaveEachPackageOnce() throws IOException {
        assertThat(packages("kit", "dev.cay."))
                .as("packages of kit, and rows of 'Packages of the kit'")
                .containsExactlyInAnyOrderElementsOf(rows("kit").stream()
                        .flatMap(row -> row.packages().stream())
                        .map(name -> List.of("stream", "session", "stateless", "face")
                                        .contains(name)
                                ? "mcp.protocol." + name
                                : name)
                        .toList());
        assertThat(packages("server", "dev.cay.server."))
                .as("packages of server, and rows of 'Packages of the server'")
                .containsExactlyInAnyOrderElementsOf(listed("server"));
        assertThat(packages("node", "dev.cay.node."))
                .as("packages of node, and rows of 'Packages of the node'")
                .containsExactlyInAnyOrderElementsOf(listed("node"));
    }

    @Test
    void theRowOfAPackageNamesItsClassesWithRoutes() throws IOException {
        assertThat(unnamed("server", "dev.cay.server.", calls(Routes.class, "on")))
                .as("classes of server that add routes to the API, and that the row of their package does not name")
                .isEmpty();
    }

    @Test
    void theChecklistNamesEachClassWithCallsOfEnvd() throws IOException {
        String page = Files.readString(PAGE);
        String checklist = page.substring(page.indexOf("* **A call of envd**"), page.indexOf("* **A system port**"));
        var callers = ArchitectureTest.CAY.stream()
                .filter(Modules.in("node"))
                .filter(calls(ConnectRoutes.class, "unary").or(calls(ConnectRoutes.class, "stream")))
                .map(ArchitecturePageTest::outermostName)
                .toList();
        assertThat(callers).as("classes with calls of envd").hasSizeGreaterThan(2);
        assertThat(callers.stream()
                        .filter(name -> !name.equals("Envd"))
                        .filter(name -> !checklist.contains("`" + name + "`"))
                        .distinct()
                        .toList())
                .as("classes with calls of envd that the checklist 'A call of envd' does not name")
                .isEmpty();
    }

    @Test
    void eachContainerRuntimeIsInItsPackageAndNamed() throws IOException {
        var runtimes = ArchitectureTest.CAY.stream()
                .filter(type -> !type.isInterface() && type.isAssignableTo(ContainerRuntime.class))
                .toList();
        assertThat(runtimes)
                .isNotEmpty()
                .allMatch(type -> type.getPackageName().equals(ContainerRuntime.class.getPackageName()));
        assertThat(unnamed("node", "dev.cay.node.", runtimes::contains))
                .as("runtimes that the row of their package does not name")
                .isEmpty();
    }

    @Test
    void eachTableOfTheStoreHasARowWithItsQueries() throws IOException {
        var created = inMigrations("CREATE TABLE (\\w+)");
        created.removeAll(inMigrations("DROP TABLE (\\w+)"));
        var named = new ArrayList<String>();
        for (var row : rows("server")) {
            String tables = row.cells().get(4);
            if (!tables.startsWith("columns") && !tables.startsWith("a column") && !tables.startsWith("the plan")) {
                Row.words(tables).stream()
                        .filter(word -> word.equals(word.toLowerCase(Locale.ROOT)))
                        .forEach(named::add);
            }
        }
        assertThat(named)
                .as("tables of the last column of 'Packages of the server', and those that migrations create")
                .containsExactlyInAnyOrderElementsOf(created);
        assertThat(unnamed(
                        "server",
                        "dev.cay.server.",
                        type -> type.getSimpleName().endsWith("Store")
                                && !type.getPackageName().startsWith("dev.cay.server.store")
                                && type.getEnclosingClass().isEmpty()))
                .as("classes with queries that the row of their package does not name")
                .isEmpty();
    }

    private static SortedSet<String> inMigrations(String pattern) throws IOException {
        var tables = new TreeSet<String>();
        try (var files = Files.list(MIGRATIONS)) {
            for (var file : files.toList()) {
                Pattern.compile(pattern)
                        .matcher(Files.readString(file))
                        .results()
                        .forEach(found -> tables.add(found.group(1)));
            }
        }
        return tables;
    }

    /// Classes of a module that the row of their package does not name.
    private static SortedSet<String> unnamed(String module, String prefix, Predicate<JavaClass> wanted)
            throws IOException {
        var rows = rows(module);
        var types = ArchitectureTest.CAY.stream()
                .filter(Modules.in(module))
                .filter(wanted)
                .toList();
        assertThat(types).as("classes that the page has to name").isNotEmpty();
        return types.stream()
                .filter(type -> rows.stream()
                        .filter(row -> row.packages().contains(shortName(type.getPackageName(), prefix)))
                        .noneMatch(row -> row.words().contains(outermostName(type))))
                .map(type -> shortName(type.getPackageName(), prefix) + ": " + outermostName(type))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Predicate<JavaClass> calls(Class<?> owner, String method) {
        return type -> type.getMethodCallsFromSelf().stream()
                .anyMatch(call -> call.getTargetOwner().isEquivalentTo(owner)
                        && call.getTarget().getName().equals(method));
    }

    private static SortedSet<String> packages(String module, String prefix) {
        return ArchitectureTest.CAY.stream()
                .filter(Modules.in(module))
                .map(type -> shortName(type.getPackageName(), prefix))
                .filter(name -> !name.isEmpty())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String shortName(String packageName, String prefix) {
        return packageName.startsWith(prefix) ? packageName.substring(prefix.length()) : "";
    }

    /// The packages that the table of a module lists, without the row of the module's own package.
    private static List<String> listed(String module) throws IOException {
        return rows(module).stream()
                .flatMap(row -> row.packages().stream())
                .filter(name -> !name.equals(module))
                .toList();
    }

    private static List<Row> rows(String module) throws IOException {
        String page = Files.readString(PAGE);
        int begin = page.indexOf("### Packages of the " + module + "\n");
        assertThat(begin).as("the section 'Packages of the %s'", module).isPositive();
        int end = page.indexOf("\n#", begin + 4);
        var rows = page.substring(begin, end)
                .lines()
                .filter(line -> line.startsWith("| `"))
                .map(Row::of)
                .toList();
        assertThat(rows).as("rows of 'Packages of the %s'", module).isNotEmpty();
        return rows;
    }

    private static String outermostName(JavaClass type) {
        return type.getEnclosingClass().map(ArchitecturePageTest::outermostName).orElseGet(type::getSimpleName);
    }
}
