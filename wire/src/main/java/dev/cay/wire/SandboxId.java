package dev.cay.wire;

import java.security.SecureRandom;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Names one sandbox for all its life, through pause and resume. Part of host names, so lower case and digits only.
public record SandboxId(String value) {
    private static final String CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
    private static final Pattern SHAPE = Pattern.compile("[a-z0-9]{1,40}");

    public SandboxId {
        if (!SHAPE.matcher(value).matches()) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "Invalid sandbox ID");
        }
    }

    /// Makes an id. 20 random characters are 103 bits: ids are unique and cannot be guessed.
    public static SandboxId random(SecureRandom random) {
        var id = new StringBuilder("i");
        for (int i = 0; i < 20; i++) {
            id.append(CHARACTERS.charAt(random.nextInt(CHARACTERS.length())));
        }
        return new SandboxId(id.toString());
    }

    /// Parses a client's id: older clients append `-<clientID>`, which is ignored.
    public static SandboxId parse(String text) {
        int dash = text.indexOf('-');
        if (dash < 0) {
            return new SandboxId(text);
        }
        if (text.indexOf('-', dash + 1) >= 0) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "Invalid sandbox ID");
        }
        return new SandboxId(text.substring(0, dash));
    }

    /// The ids among these names, for example of files; other names are skipped.
    public static List<SandboxId> among(Stream<String> names) {
        return names.filter(SHAPE.asMatchPredicate()).map(SandboxId::new).toList();
    }

    @Override
    public String toString() {
        return value;
    }
}
