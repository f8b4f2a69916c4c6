package dev.cay.dockerfile;

import dev.cay.config.Suggestion;
import dev.cay.dockerfile.Mount.Owner;
import dev.cay.dockerfile.Mount.Sharing;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads a `--mount` of RUN: fields with commas between them, each `key=value` or a key alone.
final class MountParser {
    private static final Map<String, Set<String>> KEYS = Map.of(
            "bind", Set.of("target", "source", "from", "readwrite"),
            "cache", Set.of("target", "id", "sharing", "from", "source", "mode", "uid", "gid", "readonly", "readwrite"),
            "secret", Set.of("id", "target", "env", "required", "mode", "uid", "gid"),
            "tmpfs", Set.of("target", "size"));
    private static final Map<String, String> ALIASES =
            Map.of("dst", "target", "destination", "target", "src", "source", "rw", "readwrite", "ro", "readonly");
    private static final Pattern SIZE = Pattern.compile("(\\d{1,15})([kmgt]?)b?");

    private final Operands operands;
    private final Operands.Flag flag;
    private final Map<String, @Nullable String> fields = new LinkedHashMap<>();
    private String type = "bind";

    private MountParser(Operands operands, Operands.Flag flag) {
        this.operands = operands;
        this.flag = flag;
    }

    static Mount parse(Operands operands, Operands.Flag flag) {
        var parser = new MountParser(operands, flag);
        parser.readFields();
        return parser.mount();
    }

    private void readFields() {
        for (String field : fields(flag.text())) {
            int equals = field.indexOf('=');
            String written =
                    (equals < 0 ? field : field.substring(0, equals)).strip().toLowerCase(Locale.ROOT);
            String key = ALIASES.getOrDefault(written, written);
            String value = equals < 0 ? null : field.substring(equals + 1);
            if (key.equals("type")) {
                type = value == null ? "" : value.toLowerCase(Locale.ROOT);
            } else if (fields.put(key, value) != null) {
                throw problem("%s is given twice in --mount".formatted(Excerpt.of(key)), "keep one");
            }
        }
        checkKeys();
    }

    private void checkKeys() {
        var known = KEYS.get(type);
        if (known == null) {
            throw type.equals("ssh")
                    ? problem(
                            "mounts of type ssh are not supported: a build reaches no SSH agent",
                            "copy files from the context, or use --mount=type=secret")
                    : problem("--mount has no type %s".formatted(Excerpt.of(type)), "use bind, cache, secret or tmpfs");
        }
        for (var field : fields.entrySet()) {
            String key = field.getKey();
            boolean readOnlyBind = type.equals("bind") && key.equals("readonly");
            if (!known.contains(key) && !readOnlyBind) {
                String fix = Suggestion.of(Excerpt.of(key), known)
                        .map(near -> "did you mean " + near + "?")
                        .orElse("it has "
                                + String.join(", ", known.stream().sorted().toList()));
                throw problem("a mount of type %s has no %s".formatted(type, Excerpt.of(key)), fix);
            }
            operands.checkVariables(text(key, ""), flag.offset());
        }
    }

    private Mount mount() {
        return switch (type) {
            case "bind" -> new Mount.Bind(target(), text("source", "/"), from(), truth("readwrite"));
            case "cache" -> {
                String target = target();
                yield new Mount.Cache(
                        target,
                        text("id", target),
                        sharing(),
                        from(),
                        text("source", "/"),
                        truth("readonly"),
                        owner(0755));
            }
            case "tmpfs" -> new Mount.Tmpfs(target(), size());
            default -> secret();
        };
    }

    private Mount secret() {
        String target = text("target", "");
        String variable = fields.get("env");
        String id = text("id", target.substring(target.lastIndexOf('/') + 1));
        if (id.isEmpty()) {
            throw problem("a mount of type secret has no id", "write --mount=type=secret,id=NAME");
        }
        boolean file = variable == null || !target.isEmpty();
        String place = target.isEmpty() && file ? "/run/secrets/" + id : target;
        return new Mount.Secret(id, place, variable, truth("required"), owner(0400));
    }

    private String target() {
        String target = text("target", "");
        if (target.isEmpty()) {
            throw problem("a mount of type %s has no target".formatted(type), "add target=/path");
        }
        return target;
    }

    private @Nullable String from() {
        String from = fields.get("from");
        if (from != null && from.indexOf('$') >= 0) {
            throw problem(
                    "from of a mount takes no variables",
                    "add a stage with FROM and the variable, and name that stage");
        }
        return from == null || from.isEmpty() ? null : from;
    }

    private Sharing sharing() {
        return switch (text("sharing", "shared")) {
            case "shared" -> Sharing.SHARED;
            case "private" -> Sharing.PRIVATE;
            case "locked" -> Sharing.LOCKED;
            default -> throw problem("the sharing of a cache is unknown", "use shared, private or locked");
        };
    }

    private Owner owner(int mode) {
        return new Owner(number("uid", 0, 10), number("gid", 0, 10), number("mode", mode, 8));
    }

    private int number(String key, int otherwise, int radix) {
        String text = text(key, "");
        try {
            return text.isEmpty() ? otherwise : Integer.parseUnsignedInt(text, radix);
        } catch (NumberFormatException _) {
            throw problem("%s of a mount is no number: %s".formatted(key, Excerpt.of(text)), "write a number");
        }
    }

    private long size() {
        String text = text("size", "0").toLowerCase(Locale.ROOT);
        var match = SIZE.matcher(text);
        int shift = match.matches() && !match.group(2).isEmpty() ? 10 * (1 + "kmgt".indexOf(match.group(2))) : 0;
        if (!match.matches() || Long.parseLong(match.group(1)) > Long.MAX_VALUE >> shift) {
            throw problem("size of a mount is no size: %s".formatted(Excerpt.of(text)), "write a size like 64m");
        }
        return Long.parseLong(match.group(1)) << shift;
    }

    private String text(String key, String otherwise) {
        String value = fields.get(key);
        return value == null || value.isEmpty() ? otherwise : value;
    }

    private boolean truth(String key) {
        if (!fields.containsKey(key)) {
            return false;
        }
        return switch (text(key, "true").toLowerCase(Locale.ROOT)) {
            case "true", "1" -> true;
            case "false", "0" -> false;
            default -> throw problem("%s of a mount is neither true nor false".formatted(key), "write true or false");
        };
    }

    /// Splits fields as in CSV: a field in double quotes may have commas.
    private static List<String> fields(String text) {
        var fields = new ArrayList<String>();
        var field = new StringBuilder();
        boolean quoted = false;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"') {
                quoted = !quoted;
            } else if (c == ',' && !quoted) {
                fields.add(field.toString());
                field.setLength(0);
            } else {
                field.append(c);
            }
        }
        fields.add(field.toString());
        return fields;
    }

    private DockerfileException problem(String what, String fix) {
        return operands.problem(flag.offset(), what, fix);
    }
}
