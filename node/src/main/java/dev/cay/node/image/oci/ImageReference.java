package dev.cay.node.image.oci;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The name of an image in Docker's form: `[HOST[:PORT]/]REPOSITORY[:TAG][@sha256:HEX]`. A name without a host is on
/// `docker.io`, and there without a directory in `library/`.
///
/// @param registry   host with a port where one is given
/// @param repository path on the registry
/// @param tag        `latest` if neither a tag nor a digest is given; null if only a digest is
/// @param digest     of the manifest; it wins over the tag
public record ImageReference(
        String registry,
        String repository,
        @Nullable String tag,
        @Nullable Digest digest) {
    static final String DEFAULT_REGISTRY = "docker.io";

    private static final int LONGEST = 255;
    private static final Pattern HOST = Pattern.compile(
            "([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*|\\[[0-9a-fA-F:]+])(:[0-9]{1,5})?");
    private static final Pattern PART = Pattern.compile("[a-z0-9]+((\\.|_|__|-+)[a-z0-9]+)*");
    private static final Pattern TAG = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}");

    public static ImageReference parse(String text) {
        if (text.isBlank() || text.length() > 2 * LONGEST) {
            throw invalid(text, "is empty or too long");
        }
        String rest = text;
        Digest digest = null;
        int at = rest.indexOf('@');
        if (at >= 0) {
            digest = digest(text, rest.substring(at + 1));
            rest = rest.substring(0, at);
        }
        String tag = digest == null ? "latest" : null;
        int colon = rest.lastIndexOf(':');
        if (colon > rest.lastIndexOf('/')) {
            tag = rest.substring(colon + 1);
            rest = rest.substring(0, colon);
            if (!TAG.matcher(tag).matches()) {
                throw invalid(text, "has a tag that is none");
            }
        }
        String registry = DEFAULT_REGISTRY;
        int slash = rest.indexOf('/');
        if (slash > 0 && looksLikeHost(rest.substring(0, slash))) {
            registry = rest.substring(0, slash);
            rest = rest.substring(slash + 1);
        }
        return checked(text, registry, rest, tag, digest);
    }

    private static ImageReference checked(
            String text, String registry, String repository, @Nullable String tag, @Nullable Digest digest) {
        if (!HOST.matcher(registry).matches()) {
            throw invalid(text, "names a registry that is no host name");
        }
        String host = registry.toLowerCase(Locale.ROOT);
        boolean standard = host.equals(DEFAULT_REGISTRY) || host.equals("index.docker.io");
        String path = standard && repository.indexOf('/') < 0 ? "library/" + repository : repository;
        if (path.length() > LONGEST) {
            throw invalid(text, "is too long");
        }
        for (String part : path.split("/", -1)) {
            if (!PART.matcher(part).matches()) {
                boolean capitals = !part.equals(part.toLowerCase(Locale.ROOT));
                throw invalid(
                        text,
                        capitals
                                ? "has capital letters, which names of images have not"
                                : "is not of the form [HOST[:PORT]/]NAME[:TAG][@sha256:HEX]");
            }
        }
        return new ImageReference(standard ? DEFAULT_REGISTRY : host, path, tag, digest);
    }

    private static Digest digest(String text, String digest) {
        try {
            return Digest.parse(digest);
        } catch (CayException e) {
            throw invalid(text, "has a digest that is not of the form sha256:HEX");
        }
    }

    private static boolean looksLikeHost(String first) {
        return first.indexOf('.') >= 0
                || first.indexOf(':') >= 0
                || first.equals("localhost")
                || !first.equals(first.toLowerCase(Locale.ROOT));
    }

    /// The same name with a digest, whatever its tag means.
    public ImageReference at(String digestText) {
        return new ImageReference(registry, repository, tag, Digest.parse(digestText));
    }

    /// The tag or digest in a request to the registry.
    String wanted() {
        return digest != null ? digest.toString() : String.valueOf(tag);
    }

    private static CayException invalid(String text, String reason) {
        return new CayException(
                ErrorKind.INVALID_ARGUMENT, "the image name %s %s".formatted(BadImage.shown(text), reason));
    }

    @Override
    public String toString() {
        return registry + "/" + repository + (tag == null ? "" : ":" + tag) + (digest == null ? "" : "@" + digest);
    }
}
