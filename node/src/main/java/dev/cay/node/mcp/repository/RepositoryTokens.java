package dev.cay.node.mcp.repository;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The operator's tokens for private repositories, each in a file. A file is read whenever its token is needed,
/// so that a token can be replaced while Cay runs.
public final class RepositoryTokens {
    private static final Logger log = LoggerFactory.getLogger(RepositoryTokens.class);
    private static final String SETTING = "mcp.repositoryTokens";

    /// `github/OWNER/NAME=FILE`, where the name may be `*`, and `@TEAM` may stand before the equals sign.
    private static final Pattern ENTRY =
            Pattern.compile("(github/[A-Za-z0-9_.-]+/(?:[A-Za-z0-9_.-]+|\\*))(?:@([^=@\\s]+))?=(/\\S+)");

    private static final Pattern TOKEN = Pattern.compile("[\\x21-\\x7e]{4,4096}");
    private static final long LARGEST = 8192;
    private static final Set<PosixFilePermission> READ_BY_OTHERS =
            Set.of(PosixFilePermission.GROUP_READ, PosixFilePermission.OTHERS_READ);

    /// @param team null for all teams
    private record Entry(String repository, @Nullable String team, Path file) {
        boolean isFor(String key, Optional<String> owner) {
            boolean named = repository.endsWith("/*")
                    ? key.startsWith(repository.substring(0, repository.length() - 1))
                    : key.equals(repository);
            return named && (team == null || Optional.of(team).equals(owner));
        }
    }

    private final List<Entry> entries;

    /// Refuses invalid entries.
    ///
    /// @param base    address below which repositories are
    /// @param entries `github/OWNER/NAME=FILE` or `github/OWNER/NAME@TEAM=FILE` each
    public RepositoryTokens(String base, List<String> entries) {
        this.entries = entries.stream().map(RepositoryTokens::entry).toList();
        if (!entries.isEmpty() && !base.startsWith("https://")) {
            throw invalid("needs an https address in mcp.repositories, as tokens are never sent in the clear");
        }
        this.entries.forEach(entry -> read(entry.file()));
    }

    private static Entry entry(String text) {
        var matcher = ENTRY.matcher(text);
        if (!matcher.matches()) {
            throw invalid("must have entries like github/acme/*=/etc/cay/acme.token or"
                    + " github/acme/tools@TEAM=/etc/cay/acme.token");
        }
        return new Entry(matcher.group(1), matcher.group(2), Path.of(matcher.group(3)));
    }

    /// The credentials of the first entry for the repository and the team.
    ///
    /// @param key  `github/OWNER/NAME`
    /// @param team empty for a sandbox whose team is not known
    Optional<GitLogin> find(String key, Optional<String> team) {
        var found = entries.stream().filter(entry -> entry.isFor(key, team)).findFirst();
        try {
            return found.map(entry -> GitLogin.parse(read(entry.file())));
        } catch (CayException e) {
            // Users must not learn the path of the file.
            log.atWarn().setCause(e).addKeyValue("repository", key).log("the token of a repository cannot be used");
            throw new CayException(
                    ErrorKind.FAILED,
                    "the operator's token for %s cannot be used; the log of Cay says why".formatted(key),
                    e);
        }
    }

    private static String read(Path file) {
        try {
            if (Files.getPosixFilePermissions(file).stream().anyMatch(READ_BY_OTHERS::contains)) {
                throw invalid("names %s, which others can read; run: sudo chmod 600 %s".formatted(file, file));
            }
            String token =
                    Files.size(file) > LARGEST ? "" : Files.readString(file).strip();
            if (!TOKEN.matcher(token).matches()) {
                throw invalid("names %s, which must hold one line: TOKEN or USER:TOKEN".formatted(file));
            }
            return token;
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "%s names %s, which cannot be read (%s)"
                            .formatted(SETTING, file, e.getClass().getSimpleName()),
                    e);
        }
    }

    private static CayException invalid(String what) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, SETTING + " " + what);
    }
}
