package dev.cay.node.mcp.repository;

import dev.cay.node.mcp.side.SideSandbox;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Git for one repository, in a side sandbox in which nothing else runs and that ends before any code of the
/// repository does. Here alone the operator's token is, in the environment of git and its credential helper.
final class GitSandbox implements AutoCloseable {
    /// Time limit: an unreachable host must not keep servers from starting with their last commit.
    private static final Duration LOOK_LIMIT = Duration.ofSeconds(40);

    private static final int SHOWN = 300;
    private static final Pattern COMMIT = Pattern.compile("[0-9a-f]{40}|[0-9a-f]{64}");

    /// The host answered, and does not give the repository to this user.
    private static final Pattern REFUSED = Pattern.compile(
            "could not read (Username|Password)|Authentication failed|not found|returned error: (401|403|404)"
                    + "|[Aa]ccess denied|[Rr]edirect");

    private static final String NEWEST = "git ls-remote -- \"$1\" HEAD; exit $?";

    /// Without submodules, because the repository chooses their addresses.
    private static final String CLONE = """
            rm -rf server
            git clone --quiet --depth 1 --no-recurse-submodules -- "$1" server >&2 && git -C server rev-parse HEAD
            exit $?
            """;

    private static final String HELPER =
            "!f() { test \"$1\" = get && printf 'username=%s\\npassword=%s\\n' \"$CAY_GIT_USER\" \"$CAY_GIT_TOKEN\"; }; f";

    private final SideSandbox side;
    private final SidePrograms programs;
    private final String url;
    private final @Nullable GitLogin login;

    /// @param login null where no token is for the repository
    GitSandbox(SideSandbox side, SidePrograms programs, String url, @Nullable GitLogin login) {
        this.side = side;
        this.programs = programs;
        this.url = url;
        this.login = login;
    }

    /// The commit of the repository's default branch.
    ///
    /// @throws CayException of kind UNAVAILABLE when the host does not answer, FAILED when it refuses
    String newest(Duration limit) {
        var ended = run(NEWEST, limit.compareTo(LOOK_LIMIT) < 0 ? limit : LOOK_LIMIT);
        if (ended.isWell() && ended.first().isEmpty()) {
            throw new CayException(ErrorKind.FAILED, "%s has no commit; push one".formatted(url));
        }
        return commit(ended);
    }

    /// Clones the newest commit to the directory `server` in the user's home.
    ///
    /// @return the commit
    String cloneNewest(Duration limit) {
        return commit(run(CLONE, limit));
    }

    private SidePrograms.Ended run(String script, Duration limit) {
        try {
            return programs.run(side, script, List.of(url), environment(), limit);
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "%s cannot be cloned: its sandbox ended".formatted(url), e);
        } catch (CayException e) {
            throw e.kind() == ErrorKind.DEADLINE_EXCEEDED
                    ? new CayException(
                            ErrorKind.UNAVAILABLE,
                            "%s cannot be cloned: no end after %d s".formatted(url, limit.toSeconds()),
                            e)
                    : e;
        }
    }

    private String commit(SidePrograms.Ended ended) {
        if (!ended.isWell()) {
            throw failed(ended.said());
        }
        String commit = ended.first().split("\\s", 2)[0];
        if (!COMMIT.matcher(commit).matches()) {
            throw new CayException(ErrorKind.FAILED, "%s cannot be cloned: git names no commit".formatted(url));
        }
        return commit;
    }

    private CayException failed(String said) {
        UnaryOperator<String> clean = login == null ? UnaryOperator.identity() : login::strikeOut;
        String line = LastLines.of(clean.apply(said), SHOWN);
        return new CayException(
                REFUSED.matcher(line).find() ? ErrorKind.FAILED : ErrorKind.UNAVAILABLE,
                login == null
                        ? "%s cannot be cloned; is it there, and public? %s".formatted(url, line)
                        : "%s cannot be cloned; is it there, and may the operator's token read it? %s"
                                .formatted(url, line));
    }

    /// The helper answers for the host of the repository alone, and redirects are not followed where there is a
    /// token. Neither is in a file, nor on a command line.
    private Map<String, String> environment() {
        var all = new HashMap<>(Map.of("GIT_TERMINAL_PROMPT", "0", "GIT_ALLOW_PROTOCOL", "http:https"));
        if (login != null) {
            var address = URI.create(url);
            all.put("CAY_GIT_USER", login.user());
            all.put("CAY_GIT_TOKEN", login.token());
            configure(all, 0, "credential.helper", "");
            configure(
                    all, 1, "credential.%s://%s.helper".formatted(address.getScheme(), address.getAuthority()), HELPER);
            configure(all, 2, "http.followRedirects", "false");
            all.put("GIT_CONFIG_COUNT", "3");
        }
        return all;
    }

    private static void configure(Map<String, String> environment, int index, String name, String value) {
        environment.put("GIT_CONFIG_KEY_" + index, name);
        environment.put("GIT_CONFIG_VALUE_" + index, value);
    }

    /// Stops everything inside.
    ///
    /// @return the files that differ from the layers, until the sandbox is closed
    Path stop() {
        return side.stop();
    }

    @Override
    public void close() {
        side.close();
    }
}
