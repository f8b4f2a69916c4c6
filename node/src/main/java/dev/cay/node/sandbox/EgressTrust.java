package dev.cay.node.sandbox;

import dev.cay.node.egress.EgressPath;
import dev.cay.node.files.Account;
import dev.cay.node.files.FileTree;
import dev.cay.node.files.SandboxPath;
import dev.cay.node.image.NodeLayer;
import dev.cay.node.image.SubjectHash;
import dev.cay.web.HostRoots;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Installs the certificate of the egress authority in a sandbox where the node opens TLS: in all places where programs
/// look. A running program may have looked already.
///
/// Root inside may have put anything at these places, and then only harms itself.
final class EgressTrust {
    private static final Logger log = LoggerFactory.getLogger(EgressTrust.class);
    private static final int MOST = 4 << 20;
    private static final String OWN_FILE = "/usr/local/share/ca-certificates/cay-egress.crt";
    private static final String JAVA = "/etc/ssl/certs/java/cacerts";

    private final EgressPath path;

    EgressTrust(EgressPath path) {
        this.path = path;
    }

    /// Writes the certificate unless it is there, or the rules open no TLS.
    void bring(SandboxId id, FileTree files, Egress egress) {
        if (!egress.takesPath() || (egress.rules().isEmpty() && !egress.inspect())) {
            return;
        }
        try {
            String pem = path.certificate();
            for (String bundle : Set.copyOf(NodeLayer.environment().values())) {
                append(files, bundle, pem);
            }
            if (!text(files, OWN_FILE).equals(pem)) {
                write(files, OWN_FILE, pem.getBytes(StandardCharsets.US_ASCII));
                write(
                        files,
                        "/etc/ssl/certs/%s.0".formatted(SubjectHash.of(pem)),
                        pem.getBytes(StandardCharsets.US_ASCII));
                bringToJava(files, pem);
            }
        } catch (IOException | GeneralSecurityException | CayException e) {
            log.atWarn()
                    .setCause(e)
                    .addKeyValue("sandbox", id)
                    .log("cannot install the egress authority's certificate in a sandbox");
        }
    }

    /// Java reads a store of its own. It is made of what this host trusts: the one inside would be hostile
    /// input for a parser.
    private static void bringToJava(FileTree files, String pem) throws IOException, GeneralSecurityException {
        if (size(files, JAVA) > 0) {
            write(files, JAVA, HostRoots.store(pem));
        }
    }

    private static void append(FileTree files, String file, String pem) throws IOException {
        String before = text(files, file);
        if (!before.contains(pem)) {
            String gap = before.isEmpty() || before.endsWith("\n") ? "" : "\n";
            write(files, file, (before + gap + pem).getBytes(StandardCharsets.ISO_8859_1));
        }
    }

    private static long size(FileTree files, String file) {
        try (var open = files.read(new SandboxPath(file))) {
            return open.size();
        } catch (IOException | CayException _) {
            return 0;
        }
    }

    private static String text(FileTree files, String file) {
        try (var open = files.read(new SandboxPath(file));
                var content = open.stream(0, Math.min(open.size(), MOST))) {
            return new String(content.readAllBytes(), StandardCharsets.ISO_8859_1);
        } catch (IOException | CayException _) {
            return "";
        }
    }

    private static void write(FileTree files, String file, byte[] content) throws IOException {
        try (var open = files.write(new SandboxPath(file), Account.ROOT, Map.of())) {
            open.write(content);
            open.setMode(0644);
        }
    }
}
