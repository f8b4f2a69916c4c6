package dev.cay.node.image;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
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
    private static final String VERSION = "3";

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

    /// What processes in a sandbox need to be told, as they bring certificates of their own.
    public static Map<String, String> environment() {
        return Map.of(
                "NODE_EXTRA_CA_CERTS", "/" + EXTRA, "SSL_CERT_FILE", "/" + BUNDLE, "REQUESTS_CA_BUNDLE", "/" + BUNDLE);
    }

    /// Builds unless it is there; takes milliseconds.
    ///
    /// @param template its layers, top first, whose files ours extend
    /// @return the layer's key
    public String require(List<String> template) {
        try {
            var certificates = certificates();
            var inputs = new ArrayList<>(List.of(VERSION, gateway));
            inputs.addAll(template);
            certificates.forEach((name, text) -> inputs.addAll(List.of(name, text)));
            String key = "node-" + Recipe.hash(inputs);
            if (!layers.has(key)) {
                var view = new LayerView(template.stream().map(layers::require).toList());
                layers.build(key, rootfs -> fill(new Sketch(rootfs, view), certificates));
            }
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

    private void fill(Sketch sketch, SortedMap<String, String> certificates) throws IOException {
        sketch.write("etc/resolv.conf", "nameserver %s\noptions timeout:3 attempts:2\n".formatted(gateway));
        String hosts = sketch.text("etc/hosts");
        if (!LOCALHOST.matcher(hosts).find()) {
            sketch.write("etc/hosts", HOSTS + hosts);
        }
        String extra = String.join("", certificates.values());
        sketch.write(EXTRA, extra);
        sketch.write(BUNDLE, sketch.text(BUNDLE) + extra);
        for (var certificate : certificates.entrySet()) {
            sketch.write("usr/local/share/ca-certificates/" + certificate.getKey(), certificate.getValue());
            linkByHash(sketch, certificate.getKey(), certificate.getValue());
        }
        sketch.link(GATEWAY_COMMAND, GUEST);
    }

    private static void linkByHash(Sketch sketch, String name, String text) throws IOException {
        String hash;
        try {
            hash = SubjectHash.of(text);
        } catch (GeneralSecurityException | RuntimeException e) {
            log.atWarn().setCause(e).addKeyValue("file", name).log("certificate not understood, left out of the index");
            return;
        }
        int number = 0;
        while (sketch.has("etc/ssl/certs/%s.%d".formatted(hash, number))) {
            number++;
        }
        sketch.linkWithin("etc/ssl/certs/%s.%d".formatted(hash, number), "usr/local/share/ca-certificates/" + name);
    }

    /// A layer that is written on top of others. What is written lands where links of those lead, and a directory that
    /// it needs is as theirs: overlayfs shows the attributes of the topmost.
    private record Sketch(Path rootfs, LayerView view) {
        /// What those below have there, if it is a file of a sane size.
        String text(String path) throws IOException {
            var file = view.find(path).place();
            if (file == null
                    || !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
                    || Files.size(file) > MAX_BUNDLE) {
                return "";
            }
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8).strip() + "\n";
        }

        boolean has(String path) throws IOException {
            return view.find(path).place() != null || Files.exists(place(path), LinkOption.NOFOLLOW_LINKS);
        }

        void write(String path, String text) throws IOException {
            Files.writeString(place(path), text);
        }

        void link(String path, Path target) throws IOException {
            Files.createSymbolicLink(place(path), target);
        }

        /// A link from one thing that is written here to another.
        void linkWithin(String path, String target) throws IOException {
            var link = place(path);
            var directory = link.getParent();
            if (directory != null) {
                Files.createSymbolicLink(link, directory.relativize(place(target)));
            }
        }

        private Path place(String path) throws IOException {
            int slash = path.lastIndexOf('/');
            return directory(path.substring(0, slash)).resolve(path.substring(slash + 1));
        }

        private Path directory(String path) throws IOException {
            if (path.isEmpty()) {
                return rootfs;
            }
            var seen = view.find(path);
            if (!seen.path().equals(path)) {
                return directory(seen.path());
            }
            int slash = path.lastIndexOf('/');
            var parent = directory(slash < 0 ? "" : path.substring(0, slash));
            var place = parent.resolve(path.substring(slash + 1));
            if (!Files.isDirectory(place)) {
                Files.createDirectory(place);
                Files.setPosixFilePermissions(place, PosixFilePermissions.fromString("rwxr-xr-x"));
                var below = seen.place();
                if (below != null && Files.isDirectory(below, LinkOption.NOFOLLOW_LINKS)) {
                    likeBelow(place, below);
                }
            }
            return place;
        }

        private static void likeBelow(Path place, Path below) throws IOException {
            for (String attribute : List.of("unix:uid", "unix:gid", "unix:mode")) {
                Files.setAttribute(place, attribute, Files.getAttribute(below, attribute));
            }
        }
    }
}
