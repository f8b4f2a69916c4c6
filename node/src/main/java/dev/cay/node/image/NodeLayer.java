package dev.cay.node.image;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The small layer on top of every template, with the files that depend on this node: names, certificates, and the
/// command `mcp-gateway`.
///
/// Programs look for certificates in three places, so Cay's are in all: the one-file bundle, the directory of hashed
/// names that OpenSSL reads, and the directory from which `update-ca-certificates` makes both.
public final class NodeLayer {
    private static final Logger log = LoggerFactory.getLogger(NodeLayer.class);
    private static final String BUNDLE = "etc/ssl/certs/ca-certificates.crt";

    /// Bundles of distributions.
    private static final List<String> BUNDLES =
            List.of(BUNDLE, "etc/pki/tls/certs/ca-bundle.crt", "etc/ssl/cert.pem", "etc/ssl/ca-bundle.pem");

    private static final String EXTRA = "etc/ssl/cay/extra.pem";

    /// A command of every sandbox, whatever its template has: the guest under another name, which selects its function.
    private static final String GATEWAY_COMMAND = "usr/local/bin/mcp-gateway";

    private static final Path GUEST = Path.of("/run/.cay-guest");

    /// Counts up when this class writes something else for the same inputs.
    private static final String VERSION = "4";

    private static final Pattern LOCALHOST = Pattern.compile("(?m)^127\\.0\\.0\\.1\\s.*\\blocalhost\\b");
    private static final String HOSTS = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n";

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

    /// Variables for processes in a sandbox that bring certificates of their own.
    public static Map<String, String> environment() {
        return Map.of(
                "NODE_EXTRA_CA_CERTS", "/" + EXTRA, "SSL_CERT_FILE", "/" + BUNDLE, "REQUESTS_CA_BUNDLE", "/" + BUNDLE);
    }

    /// The key of the layer, whether or not it exists.
    ///
    /// @param template its layers, top first, whose files this layer extends
    public String key(List<String> template) {
        try {
            return key(template, certificates());
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    private String key(List<String> template, SortedMap<String, String> certificates) {
        var inputs = new ArrayList<>(List.of(VERSION, gateway));
        inputs.addAll(template);
        certificates.forEach((name, text) -> inputs.addAll(List.of(name, text)));
        return "node-" + Recipe.hash(inputs);
    }

    private static CayException unreadable(IOException e) {
        return new CayException(ErrorKind.INTERNAL, "cannot read the certificates to trust", e);
    }

    /// Builds the layer unless it exists; takes milliseconds.
    ///
    /// @param template its layers, top first, whose files this layer extends
    /// @return the layer's key
    public String require(List<String> template) {
        try {
            var certificates = certificates();
            String key = key(template, certificates);
            if (!layers.claim(key)) {
                var view = new LayerView(template.stream().map(layers::require).toList());
                layers.build(key, rootfs -> fill(new LayerOnTop(rootfs, view), certificates));
            }
            return key;
        } catch (IOException e) {
            throw unreadable(e);
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

    private void fill(LayerOnTop layer, SortedMap<String, String> certificates) throws IOException {
        layer.write("etc/resolv.conf", "nameserver %s\noptions timeout:3 attempts:2\n".formatted(gateway));
        String hosts = layer.text("etc/hosts");
        if (!LOCALHOST.matcher(hosts).find()) {
            layer.write("etc/hosts", HOSTS + hosts);
        }
        String extra = String.join("", certificates.values());
        layer.write(EXTRA, extra);
        layer.write(BUNDLE, trusted(layer) + extra);
        for (var certificate : certificates.entrySet()) {
            layer.write("usr/local/share/ca-certificates/" + certificate.getKey(), certificate.getValue());
            linkByHash(layer, certificate.getKey(), certificate.getValue());
        }
        layer.link(GATEWAY_COMMAND, GUEST);
    }

    /// The certificate authorities that the template trusts. Programs read one place, so a bundle elsewhere is copied
    /// there; a template without any gets the host's.
    private static String trusted(LayerOnTop layer) throws IOException {
        for (String place : BUNDLES) {
            String bundle = layer.text(place);
            if (!bundle.isEmpty()) {
                return bundle;
            }
        }
        return Files.isRegularFile(Path.of("/" + BUNDLE)) ? Files.readString(Path.of("/" + BUNDLE)) : "";
    }

    private static void linkByHash(LayerOnTop layer, String name, String text) throws IOException {
        String hash;
        try {
            hash = SubjectHash.of(text);
        } catch (GeneralSecurityException | RuntimeException e) {
            log.atWarn()
                    .setCause(e)
                    .addKeyValue("file", name)
                    .log("a certificate cannot be parsed and is left out of the index");
            return;
        }
        int number = 0;
        while (layer.has("etc/ssl/certs/%s.%d".formatted(hash, number))) {
            number++;
        }
        layer.linkWithin("etc/ssl/certs/%s.%d".formatted(hash, number), "usr/local/share/ca-certificates/" + name);
    }
}
