package dev.cay.node.fuse;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/// The mount options that a program may use. All others are refused: some options of the kernel set the owner of the
/// file system, and the descriptor by which it is served.
///
/// @param kernel     options of the file system, as the kernel reads them
/// @param attributes of the mount, one letter each: r for read-only, x for no programs, a for no access times. Every
///                   mount is without devices and set-user-id programs
record FuseOptions(List<String> kernel, String attributes) {
    /// Options without effect here. Programs always send the first ones; libfuse itself handles the last three.
    private static final Set<String> IGNORED = Set.of(
            "rw",
            "nosuid",
            "nodev",
            "suid",
            "dev",
            "exec",
            "async",
            "atime",
            "diratime",
            "relatime",
            "nodiratime",
            "large_read",
            "user",
            "nonempty",
            "auto_unmount");

    private static final Map<String, String> ATTRIBUTES = Map.of("ro", "r", "noexec", "x", "noatime", "a");
    private static final Set<String> FLAGS = Set.of("allow_other", "default_permissions", "sync", "dirsync");
    private static final Pattern COMMA = Pattern.compile("(?<!\\\\),");
    private static final Pattern NAME = Pattern.compile("[^\\p{Cntrl}\"'\\\\]{1,200}");
    private static final Pattern KIND = Pattern.compile("[A-Za-z0-9_.-]{1,32}");
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,7}");

    FuseOptions {
        kernel = List.copyOf(kernel);
    }

    /// @param text as after `-o`: separated by commas, `\` before a comma that separates nothing
    static FuseOptions read(String text) {
        var kernel = new ArrayList<String>();
        var attributes = new StringBuilder();
        String source = "fuse";
        for (String option : COMMA.split(text)) {
            int equals = option.indexOf('=');
            String name = equals < 0 ? option : option.substring(0, equals);
            String value = option.substring(equals + 1);
            if (ATTRIBUTES.containsKey(option)) {
                attributes.append(ATTRIBUTES.get(option));
            } else if (FLAGS.contains(option)) {
                kernel.add(option);
            } else if (name.equals("fsname")) {
                source = require(NAME, name, value.replace("\\,", ","));
            } else if (name.equals("subtype")) {
                kernel.add(name + "=" + require(KIND, name, value));
            } else if (name.equals("max_read")) {
                kernel.add(name + "=" + require(NUMBER, name, value));
            } else if (!option.isEmpty() && !IGNORED.contains(name)) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT, "-o: the option '%s' cannot be had here".formatted(name));
            }
        }
        kernel.add("source=" + source);
        return new FuseOptions(kernel, attributes.toString());
    }

    private static String require(Pattern form, String name, String value) {
        if (!form.matcher(value).matches()) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "-o: %s has a value of the wrong form".formatted(name));
        }
        return value;
    }
}
