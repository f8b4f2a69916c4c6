package dev.cay.node.build;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The state that steps of a build pass on, beside files.
///
/// @param user        the user of later steps
/// @param workdir     their working directory; null for the user's home
/// @param environment their variables
record BuildState(String user, @Nullable String workdir, Map<String, String> environment) {
    private static final Pattern VARIABLE =
            Pattern.compile("\\\\\\$|\\$([A-Za-z_][A-Za-z0-9_]*)|\\$\\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?}");

    BuildState {
        environment = Map.copyOf(environment);
    }

    BuildState asUser(String name) {
        return new BuildState(name, workdir, environment);
    }

    /// Resolves a relative path against the working directory.
    String resolve(String path) {
        String whole = path.startsWith("/") ? path : (workdir == null ? "" : workdir) + "/" + path;
        return Path.of(whole).normalize().toString();
    }

    BuildState in(String path) {
        return new BuildState(user, path, environment);
    }

    /// @param pairs names and values in turn, in which variables are replaced by what they were before
    BuildState with(List<String> pairs) {
        var all = new LinkedHashMap<>(environment);
        for (int i = 0; i + 1 < pairs.size(); i += 2) {
            all.put(pairs.get(i), expand(pairs.get(i + 1)));
        }
        return new BuildState(user, workdir, all);
    }

    /// A value with `$NAME` and `${NAME}` replaced. Nothing is executed.
    String expand(String value) {
        return VARIABLE.matcher(value).replaceAll(match -> {
            if (match.group().equals("\\$")) {
                return "\\$";
            }
            String name = match.group(1) == null ? match.group(2) : match.group(1);
            String known = environment.getOrDefault(name, usual(name));
            String otherwise = match.group(4) == null ? "" : match.group(4);
            return Matcher.quoteReplacement(known.isEmpty() ? otherwise : known);
        });
    }

    private String usual(String name) {
        return switch (name) {
            case "PATH" -> SearchPath.USUAL;
            case "USER" -> user;
            case "HOME" -> user.equals("root") ? "/root" : "/home/" + user;
            default -> "";
        };
    }

    /// The whole state in one line, which is part of a step's key.
    String text() {
        return "%s\n%s\n%s"
                .formatted(
                        user,
                        workdir == null ? "" : workdir,
                        environment.entrySet().stream()
                                .sorted(Map.Entry.comparingByKey())
                                .map(variable -> variable.getKey() + "=" + variable.getValue())
                                .collect(Collectors.joining("\0")));
    }
}
