package dev.cay.node.ingress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.NeedsRoot;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What the calls on files answer, row by row as clients know it.
@Timeout(60)
@NeedsRoot
class FilesystemCallsTest extends EnvdFilesTest {
    private HttpResponse<String> call(String method, String path) throws Exception {
        return envd.call(method, "{\"path\":\"%s\"}".formatted(path));
    }

    private static void refused(HttpResponse<String> answer, int status, String code, String message) {
        assertThat(answer.body()).isEqualTo("{\"code\":\"%s\",\"message\":\"%s\"}".formatted(code, message));
        assertThat(answer.statusCode()).isEqualTo(status);
    }

    @Test
    void tellsWhatAFileIs() throws Exception {
        var file = Files.writeString(folder.resolve("a.txt"), "data");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        Files.setLastModifiedTime(file, FileTime.from(Instant.parse("2026-09-21T10:00:00Z")));
        assertThat(call("Stat", path("a.txt")).body())
                .isEqualTo(("{\"entry\":{\"name\":\"a.txt\",\"type\":\"FILE_TYPE_FILE\",\"path\":\"%s\",\"size\":\"4\","
                                + "\"mode\":420,\"permissions\":\"-rw-r--r--\",\"owner\":\"root\",\"group\":\"root\","
                                + "\"modifiedTime\":\"2026-09-21T10:00:00Z\"}}")
                        .formatted(path("a.txt")));
        var old = envd.call("Stat", "{\"path\":\"%s\"}".formatted(path("a.txt")), "User-Agent", "connect-python/0.4");
        assertThat(old.body())
                .isEqualTo("{\"entry\":{\"name\":\"a.txt\",\"type\":\"FILE_TYPE_FILE\",\"path\":\"%s\"}}"
                        .formatted(path("a.txt")));
        assertThat(old.headers().firstValue("X-E2B-Legacy-SDK")).contains("true");
        refused(
                call("Stat", path("none")),
                404,
                "not_found",
                "file not found: path '%s' does not exist".formatted(path("none")));
        assertThat(call("Stat", "/tmp").body()).contains("\"permissions\":\"dtrwxrwxrwx\"", "\"mode\":511");
        assertThat(call("Stat", "/dev/null").body()).contains("\"permissions\":\"Dcrw-rw-rw-\"");
        var unknown = envd.call("Stat", "{\"path\":\"/\"}", "Authorization", "Basic bm9ib2R5eDo=");
        refused(unknown, 401, "unauthenticated", "invalid username: 'nobodyx'");
        assertThat(call("Stat", "").body()).contains("\"path\":\"/tmp\"");
        Files.setAttribute(file, "unix:uid", 54_321);
        assertThat(call("Stat", path("a.txt")).body()).contains("\"owner\":\"54321\"");
    }

    @Test
    void tellsWhereLinksLead() throws Exception {
        Files.createDirectory(folder.resolve("dir"));
        Files.createSymbolicLink(folder.resolve("link"), Path.of("dir"));
        Files.createSymbolicLink(folder.resolve("chain"), Path.of("link"));
        Files.createSymbolicLink(folder.resolve("broken"), Path.of("nowhere"));
        assertThat(call("Stat", path("chain")).body())
                .contains("\"type\":\"FILE_TYPE_DIRECTORY\"", "\"permissions\":\"Lrwxrwxrwx\"", "\"size\":\"4\"")
                .contains("\"symlinkTarget\":\"%s\"".formatted(path("dir")));
        assertThat(call("Stat", path("broken")).body())
                .doesNotContain("\"type\"")
                .contains("\"symlinkTarget\":\"%s\"".formatted(path("broken")));
    }

    @Test
    void listsAsDeepAsAsked() throws Exception {
        Files.createDirectories(folder.resolve("d/b/c"));
        Files.createFile(folder.resolve("d/a"));
        Files.createFile(folder.resolve("d/b/z"));
        Files.createSymbolicLink(folder.resolve("d/l"), folder.resolve("d/b"));
        Files.createSymbolicLink(folder.resolve("root"), folder.resolve("d"));
        for (var depth : new String[] {"", ",\"depth\":0", ",\"depth\":1"}) {
            assertThat(names("d", depth)).containsExactly("d/a", "d/b", "d/l");
        }
        assertThat(names("d", ",\"depth\":2")).containsExactly("d/a", "d/b", "d/b/c", "d/b/z", "d/l");
        assertThat(names("d", ",\"depth\":4294967295")).hasSize(5);
        // The asked-for path is followed, and its own name stays.
        assertThat(names("root", "")).containsExactly("root/a", "root/b", "root/l");
        refused(call("ListDir", path("none")), 404, "not_found", "path '%s' does not exist".formatted(path("none")));
        refused(call("ListDir", path("d/a")), 400, "invalid_argument", "path is not a directory: " + path("d/a"));
        Files.createSymbolicLink(folder.resolve("loop"), folder.resolve("loop"));
        assertThat(call("ListDir", path("loop")).body()).contains("\"failed_precondition\"");
        Files.createDirectory(folder.resolve("empty"));
        assertThat(call("ListDir", path("empty")).body()).isEqualTo("{}");
    }

    private java.util.List<String> names(String directory, String depth) throws Exception {
        String body = envd.call("ListDir", "{\"path\":\"%s\"%s}".formatted(path(directory), depth))
                .body();
        return java.util.regex.Pattern.compile("\"path\":\"" + folder + "/([^\"]*)\"")
                .matcher(body)
                .results()
                .map(match -> match.group(1))
                .toList();
    }

    @Test
    void makesMovesAndRemoves() throws Exception {
        assertThat(call("MakeDir", path("m/n")).body())
                .contains("\"type\":\"FILE_TYPE_DIRECTORY\"", "\"permissions\":\"drwxr-xr-x\"");
        refused(call("MakeDir", path("m/n")), 409, "already_exists", "directory already exists: " + path("m/n"));
        Files.createFile(folder.resolve("f"));
        refused(
                call("MakeDir", path("f")),
                400,
                "invalid_argument",
                "path already exists but it is not a directory: " + path("f"));
        assertThat(call("MakeDir", path("f/below")).body()).contains("\"invalid_argument\"");

        Files.writeString(folder.resolve("from"), "moved");
        Files.writeString(folder.resolve("to"), "overwritten");
        assertThat(move("from", "to").body()).contains("\"path\":\"%s\"".formatted(path("to")), "\"size\":\"5\"");
        assertThat(move("to", "new/parents/to").statusCode()).isEqualTo(200);
        assertThat(folder.resolve("new/parents/to")).hasContent("moved");
        refused(move("none", "x"), 404, "not_found", "path '%s' does not exist".formatted(path("none")));
        assertThat(folder.resolve("x")).doesNotExist();
        refused(move("m", "new"), 500, "internal", "cannot move '%s': directory not empty".formatted(path("m")));
        refused(move("new", "new/below"), 500, "internal", "cannot move '%s': invalid argument".formatted(path("new")));

        assertThat(call("Remove", path("new")).body()).isEqualTo("{}");
        assertThat(folder.resolve("new")).doesNotExist();
        assertThat(call("Remove", path("new")).statusCode()).isEqualTo(200);
        assertThat(call("Remove", path("no/parent")).statusCode()).isEqualTo(200);
        assertThat(call("Remove", "/").body()).contains("\"invalid_argument\"");
        assertThat(call("Remove", "/proc/self").body()).contains("\"internal\"");
    }

    private HttpResponse<String> move(String from, String to) throws Exception {
        return envd.call("Move", "{\"source\":\"%s\",\"destination\":\"%s\"}".formatted(path(from), path(to)));
    }
}
