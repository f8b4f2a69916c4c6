package dev.cay.node.image;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Properties;

/// The files of `templates/base`, as they were packed into this program.
record Recipe(String packages, String dpkg, String versions, String setup) {
    /// Counts up when the code around the recipe makes something else of it.
    private static final String LAYOUT = "2";

    static Recipe base() {
        return new Recipe(text("packages"), text("dpkg.conf"), text("versions"), text("setup.sh"));
    }

    List<String> packageList() {
        return entries(packages);
    }

    List<String> dpkgOptions() {
        return entries(dpkg);
    }

    String version(String name) {
        var read = new Properties();
        try {
            read.load(new StringReader(versions));
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "templates/base/versions is broken", e);
        }
        String version = read.getProperty(name);
        if (version == null) {
            throw new CayException(ErrorKind.INTERNAL, "templates/base/versions does not name " + name);
        }
        return version;
    }

    /// @param architecture of the CPU, as it changes everything
    String key(String architecture) {
        return "base-" + hash(List.of(LAYOUT, packages, dpkg, versions, setup, architecture));
    }

    /// Lengths keep two lists apart whose texts join to the same.
    static String hash(List<String> inputs) {
        try {
            var digest = MessageDigest.getInstance("SHA-256");
            for (String input : inputs) {
                byte[] bytes = input.getBytes(StandardCharsets.UTF_8);
                digest.update((bytes.length + ":").getBytes(StandardCharsets.US_ASCII));
                digest.update(bytes);
            }
            return HexFormat.of().formatHex(digest.digest(), 0, 10);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<String> entries(String text) {
        return text.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                .toList();
    }

    private static String text(String name) {
        try (var in = Recipe.class.getResourceAsStream("/dev/cay/node/templates/base/" + name)) {
            if (in == null) {
                throw new CayException(ErrorKind.INTERNAL, "templates/base/%s is not packed".formatted(name));
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot read templates/base/" + name, e);
        }
    }
}
