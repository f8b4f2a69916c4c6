package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.http.Routes.Route;
import dev.cay.testing.Fast;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// The routes column of ARCHITECTURE.md, where a newcomer looks for the class of a route, fits the routes of the API.
@Fast
final class ArchitectureRoutesTest extends ServerTest {
    private static final Path PAGE = Path.of("../docs/ARCHITECTURE.md");

    @Test
    void eachRouteIsInARowAndEachRowHasARoute() throws IOException {
        var listed = listed();
        assertThat(listed).hasSizeGreaterThan(20);
        var paths = cay.server.table().stream().map(Route::path).distinct().toList();
        assertThat(paths)
                .as("paths that are in no row of 'Packages of the server'")
                .allMatch(path -> listed.stream()
                        .anyMatch(entry -> pattern(entry).matcher(path).matches()));
        assertThat(listed)
                .as("entries of 'Packages of the server' that no route of the API has")
                .allMatch(entry -> paths.stream()
                        .anyMatch(path -> pattern(entry).matcher(path).matches()));
    }

    /// Paths as the third column has them, like `/sandboxes/ID/egress`, or `…/fork` for every path that ends so.
    private static List<String> listed() throws IOException {
        String page = Files.readString(PAGE);
        int begin = page.indexOf("### Packages of the server\n");
        var listed = new ArrayList<String>();
        page.substring(begin, page.indexOf("\n### ", begin + 4))
                .lines()
                .filter(line -> line.startsWith("| `"))
                .forEach(line -> Pattern.compile("`([^`]+)`")
                        .matcher(line.split("\\|", -1)[3])
                        .results()
                        .forEach(found -> listed.add(found.group(1))));
        return listed;
    }

    /// What is below a path belongs to it.
    private static Pattern pattern(String listed) {
        String path = listed.startsWith("…") ? ".*" + Pattern.quote(listed.substring(1)) : Pattern.quote(listed);
        return Pattern.compile(path.replace("ID", "\\E\\{[^/]+}\\Q") + "(/.*)?");
    }
}
