package dev.cay.node.image;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The small layer on top of every template: what depends on this node, namely names and whom to trust, and the command
/// `mcp-gateway`.
///
/// Programs look for certificates in three places, so ours are in all: the one-file bundle, the directory of hashed
/// names that OpenSSL reads, and the folder `update-ca-certificates` makes both from.
public final class NodeLayer {
    private static final Logger log = LoggerFactory.getLogger(NodeLayer.class);
    private static final long MAX_BUNDLE = 8L << 20;
    private static final String BUNDLE = "etc/ssl/certs/ca-certificates.crt";
    private static final String EXTRA = "etc/ssl/cay/extra.pem";

    /// A command of every sandbox, whatever its template has: the guest, which knows by this name what it is asked for.
    private static final String GATEWAY_COMMAND = "usr/local/bin/mcp-gateway";

    private static final Path GUEST = Path.of("/run/.cay-guest");

    /// Counts up when this class writes something else for the same inputs.
    private static final String VERSION = "2";

    private final LayerStore layers;
    private final String gateway;
    private final Path authority;
    private final @Nullable Path operatorCertificates;

    /// @param gateway   address that answers DNS inside
    /// @param authority PEM file of Cay's own CA
    /// @param operatorCertificates directory of `.crt` files to trust too, `/usr/local/share/ca-certificates`; null
    ///                  when the operator does not want that
    public NodeLayer(LayerStore layers, String gateway, Path authority, @Nullable Path operatorCertificates) {
        this.layers = layers;
        this.gateway = gateway;
        this.authority = authority;
        this.operatorCertificates = operatorCertificates;
    }

    /// What processes in a sandbox need to be told, as they bring certificates of their own.
    public static Map<String, String> environment() {
        return Map.of(
                "NODE_EXTRA_CA_CERTS", "/" + EXTRA, "SSL_CERT_FILE", "/" + BUNDLE, "REQUESTS_CA_BUNDLE", "/" + BUNDLE);
    }

    /// Builds unless it is there; takes milliseconds.
    ///
    /// @param templateKey layer whose certificate bundle ours extends
    /// @return the layer's key
    public String require(String templateKey) {
        var template = layers.require(templateKey);
        try {
            var certificates = certificates();
            var inputs = new ArrayList<>(List.of(VERSION, templateKey, gateway));
            certificates.forEach((name, text) -> inputs.addAll(List.of(name, text)));
            String key = "node-" + Recipe.hash(inputs);
            layers.build(key, rootfs -> fill(rootfs, template, certificates));
            return key;
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot read the certificates to trust", e);
        }
    }

    /// PEM texts by file name. A key that an operator left among them is not for sandboxes.
    private SortedMap<String, String> certificates() throws IOException {
        var found = new TreeMap<String, String>();
        var directory = operatorCertificates;
        if (directory != null && Files.isDirectory(directory)) {
            try (var files = Files.newDirectoryStream(directory, "*.crt")) {
                for (var file : files) {
                    String text = Files.readString(file);
                    if (text.contains("BEGIN CERTIFICATE") && !text.contains("PRIVATE KEY")) {
                        found.put("host-" + file.getFileName(), text.strip() + "\n");
                    }
                }
            }
        }
        found.put("cay.crt", Files.readString(authority).strip() + "\n");
        return found;
    }

    private void fill(Path rootfs, Path template, SortedMap<String, String> certificates) throws IOException {
        write(rootfs, "etc/resolv.conf", "nameserver %s\noptions timeout:3 attempts:2\n".formatted(gateway));
        write(rootfs, "etc/hosts", "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n");
        String extra = String.join("", certificates.values());
        write(rootfs, EXTRA, extra);
        write(rootfs, BUNDLE, inside(template, BUNDLE) + extra);
        for (var certificate : certificates.entrySet()) {
            write(rootfs, "usr/local/share/ca-certificates/" + certificate.getKey(), certificate.getValue());
            linkByHash(rootfs, template, certificate.getKey(), certificate.getValue());
        }
        linkGatewayCommand(rootfs, template);
        // Overlayfs shows the attributes of the topmost directory: these must be as the template has them.
        for (String path :
                List.of("usr/local", "usr/local/bin", "usr/local/share", "usr/local/share/ca-certificates")) {
            if (Files.isDirectory(template.resolve(path), LinkOption.NOFOLLOW_LINKS)
                    && Files.isDirectory(rootfs.resolve(path), LinkOption.NOFOLLOW_LINKS)) {
                Files.setPosixFilePermissions(
                        rootfs.resolve(path), Files.getPosixFilePermissions(template.resolve(path)));
            }
        }
    }

    /// Where the template has a link instead of the directory, a directory here would hide what it leads to.
    private static void linkGatewayCommand(Path rootfs, Path template) throws IOException {
        var link = rootfs.resolve(GATEWAY_COMMAND);
        var directory = Path.of(GATEWAY_COMMAND).getParent();
        if (directory == null || Files.isSymbolicLink(template.resolve(directory))) {
            return;
        }
        Files.createDirectories(rootfs.resolve(directory));
        Files.createSymbolicLink(link, GUEST);
    }

    /// The template is somebody's image: its files are read through no link that leads out of it.
    private static String inside(Path template, String path) throws IOException {
        var file = template.resolve(path);
        boolean safe = Files.isRegularFile(file)
                && file.toRealPath().startsWith(template.toRealPath())
                && Files.size(file) <= MAX_BUNDLE;
        return safe ? Files.readString(file).strip() + "\n" : "";
    }

    private static void linkByHash(Path rootfs, Path template, String name, String text) throws IOException {
        String hash;
        try {
            hash = SubjectHash.of(text);
        } catch (GeneralSecurityException | RuntimeException e) {
            log.atWarn().setCause(e).addKeyValue("file", name).log("certificate not understood, left out of the index");
            return;
        }
        for (int i = 0; ; i++) {
            String link = "etc/ssl/certs/" + hash + "." + i;
            if (!Files.exists(template.resolve(link), LinkOption.NOFOLLOW_LINKS)
                    && !Files.exists(rootfs.resolve(link), LinkOption.NOFOLLOW_LINKS)) {
                Files.createSymbolicLink(
                        rootfs.resolve(link), Path.of("../../../usr/local/share/ca-certificates/" + name));
                return;
            }
        }
    }

    private static void write(Path rootfs, String path, String text) throws IOException {
        var file = rootfs.resolve(path);
        var directory = file.getParent();
        if (directory != null) {
            Files.createDirectories(directory);
        }
        Files.writeString(file, text);
    }
}
