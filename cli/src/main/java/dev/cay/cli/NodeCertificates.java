package dev.cay.cli;

import dev.cay.life.WholeFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;

/// Merges certificates for Node, which reads only the file in NODE_EXTRA_CA_CERTS: if a user has one already, for a
/// proxy or a registry of packages, Cay's certificate must be in the same file.
final class NodeCertificates {
    private static final String VARIABLE = "NODE_EXTRA_CA_CERTS";

    /// The part after this line is Cay's, and is replaced each time.
    private static final String CAY = "# The certificate of Cay\n";

    private NodeCertificates() {}

    /// @param variables   the variables for clients; the certificate in them is replaced if the user has others
    /// @param environment the user's own
    static void keep(Map<String, String> variables, Map<String, String> environment, String instance)
            throws IOException {
        String present = environment.getOrDefault(VARIABLE, "");
        Path own = Path.of(variables.getOrDefault(VARIABLE, ""));
        // A file that Node could not read either is not missed.
        if (present.isBlank() || Path.of(present).equals(own) || !Files.isReadable(Path.of(present))) {
            return;
        }
        String theirs = read(Path.of(present));
        int cay = theirs.indexOf(CAY);
        Path both = Files.createDirectories(cache(environment)).resolve("node-certificates-%s.pem".formatted(instance));
        String text = "%s\n%s%s".formatted((cay < 0 ? theirs : theirs.substring(0, cay)).strip(), CAY, read(own));
        if (!Files.exists(both) || !read(both).equals(text)) {
            var mode = PosixFilePermissions.fromString("rw-r--r--");
            WholeFile.write(both, text.getBytes(StandardCharsets.ISO_8859_1), mode);
        }
        variables.put(VARIABLE, both.toString());
    }

    private static String read(Path file) throws IOException {
        // Comments in it may be in any encoding.
        return Files.readString(file, StandardCharsets.ISO_8859_1);
    }

    private static Path cache(Map<String, String> environment) {
        String home = environment.getOrDefault("HOME", System.getProperty("user.home"));
        String caches = environment.getOrDefault("XDG_CACHE_HOME", "");
        return (caches.isEmpty() ? Path.of(home, ".cache") : Path.of(caches)).resolve("cay");
    }
}
