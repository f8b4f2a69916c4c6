package dev.cay.server.volume;

import dev.cay.server.request.RequestBody;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A volume that a client requests in a new sandbox, checked except for its existence.
///
/// @param readOnly null where the client does not say
public record MountWish(String name, String path, @Nullable Boolean readOnly) {
    private static final int MOST = 16;
    private static final int LONGEST = 1024;

    /// Paths that the node mounts or writes itself, and those without which a sandbox cannot start.
    private static final Pattern RESERVED = Pattern.compile("/(proc|sys|dev|run|etc)(/.*)?");

    private static final Pattern CLEAN = Pattern.compile("(/[^/\\p{Cntrl}\\\\]+)+");

    /// The suffix for read-only, because E2B's clients send nothing but names and paths. No name of a volume has a
    /// colon.
    private static final String READ_ONLY = ":ro";

    /// Reads the field `volumeMounts`.
    public static List<MountWish> read(RequestBody body) {
        var wishes = new ArrayList<MountWish>();
        for (var one : body.objects("volumeMounts")) {
            wishes.add(read(one, "'volumeMounts[%d]".formatted(wishes.size())));
        }
        if (wishes.size() > MOST) {
            throw RequestBody.invalid(
                    "'volumeMounts' has %d volumes: a sandbox can have %d".formatted(wishes.size(), MOST));
        }
        requireApart(wishes);
        return List.copyOf(wishes);
    }

    private static MountWish read(RequestBody one, String field) {
        String name = one.filled("name");
        String path = one.filled("path");
        if (name == null) {
            throw RequestBody.invalid(field + ".name' is required: what the volume is called");
        }
        if (path == null) {
            throw RequestBody.invalid(field + ".path' is required: where the volume is mounted, like \"/data\"");
        }
        requireClean(path, field + ".path'");
        boolean suffixed = name.endsWith(READ_ONLY);
        Boolean said = one.bool("readOnly");
        if (suffixed && Boolean.FALSE.equals(said)) {
            throw RequestBody.invalid(field + ".readOnly' is false, but the name ends with ':ro'");
        }
        String bare = suffixed ? name.substring(0, name.length() - READ_ONLY.length()) : name;
        return new MountWish(bare, path, suffixed ? Boolean.TRUE : said);
    }

    private static void requireClean(String path, String field) {
        boolean dots = ("/" + path + "/").contains("/./") || ("/" + path + "/").contains("/../");
        if (path.length() > LONGEST || dots || !CLEAN.matcher(path).matches()) {
            throw RequestBody.invalid(
                    field + " must be an absolute path other than '/', without '.', '..', doubled slashes, a slash at"
                            + " the end, backslashes and control characters");
        }
        if (RESERVED.matcher(path).matches()) {
            throw RequestBody.invalid(
                    "%s is %s, but nothing can be mounted at or below /proc, /sys, /dev, /run and /etc"
                            .formatted(field, path));
        }
    }

    /// Refuses nested paths. A volume is hostile input: no mount may be on the path of another one.
    private static void requireApart(List<MountWish> wishes) {
        for (int i = 0; i < wishes.size(); i++) {
            for (int j = 0; j < wishes.size(); j++) {
                String outer = wishes.get(i).path();
                String inner = wishes.get(j).path();
                if (i != j && (inner + "/").startsWith(outer + "/")) {
                    throw RequestBody.invalid("'volumeMounts' has %s and %s: no path may be another one or lie below it"
                            .formatted(outer, inner));
                }
            }
        }
    }
}
