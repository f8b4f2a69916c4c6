package dev.cay.node.image.oci;

import dev.cay.node.image.BuildProgress;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.Unused;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.OutputStream;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Brings images of registries and of archives into the layer store. Thread-safe; blocks on disk and network, so only
/// platform threads call it. A thread that is interrupted gives up.
public final class Images implements AutoCloseable {
    private final LayerInstall install;
    private final LayerLimits limits;
    private final Path directory;
    private final RegistrySettings settings;
    private final RegistryHttp http;
    private final DocumentCache documents;

    /// @param cacheDir the same as that of the store
    /// @param clients  makes a client that does not follow redirects, when one is needed; see {@link #client}
    public Images(
            LayerStore layers,
            Path cacheDir,
            RegistrySettings settings,
            LayerLimits limits,
            Supplier<HttpClient> clients) {
        this.install = new LayerInstall(layers, new LayerUnpacker(limits));
        this.limits = limits;
        this.directory = cacheDir.resolve("images");
        this.settings = settings;
        this.http = new RegistryHttp(clients, settings);
        this.documents = new DocumentCache(directory.resolve("documents"));
    }

    /// An HTTP client for registries. The caller may add a proxy and trusted authorities.
    public static HttpClient.Builder client(RegistrySettings settings) {
        return HttpClient.newBuilder()
                .followRedirects(HttpClient.Redirect.NEVER)
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(settings.connect());
    }

    /// Fetches the layers of an image that are not here yet. The manifest is always asked for.
    public PulledImage pull(ImageReference reference, RegistryCredentials credentials, BuildProgress progress) {
        progress.at("reading the manifest", reference.toString(), 0);
        prepare();
        var image = new RegistryImage(reference, places(reference, credentials), documents);
        try {
            var root = image.root();
            var plan = new Manifests(image).plan(root.bytes(), root.mediaType());
            var missing = install.missing(plan);
            try (var staging = Staging.open(directory.resolve("staging"));
                    var downloads = new Downloads(image, plan, staging.directory(), settings, progress)) {
                downloads.start(missing);
                return install.install(plan, downloads::open);
            }
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE, "image %s could not be pulled: %s".formatted(reference, e.getMessage()), e);
        }
    }

    /// The digest of the manifest for this machine that the registry has now. Fetches no layer.
    public Digest digest(ImageReference reference, RegistryCredentials credentials) {
        prepare();
        var image = new RegistryImage(reference, places(reference, credentials), documents);
        try {
            var root = image.root();
            return new Manifests(image).plan(root.bytes(), root.mediaType()).digest();
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE, "image %s could not be found: %s".formatted(reference, e.getMessage()), e);
        }
    }

    /// Copies an image of a registry into a directory, which is an OCI layout and may hold several images. Nothing is
    /// unpacked.
    ///
    /// @return the digest of the manifest for this machine
    public Digest fetch(
            ImageReference reference, RegistryCredentials credentials, Path layout, BuildProgress progress) {
        progress.at("reading the manifest", reference.toString(), 0);
        prepare();
        var image = new RegistryImage(reference, places(reference, credentials), documents);
        try (var staging = Staging.open(directory.resolve("staging"))) {
            return new ImageLayout(layout)
                    .add(reference, image, plan -> new Downloads(image, plan, staging.directory(), settings, progress));
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE, "image %s could not be fetched: %s".formatted(reference, e.getMessage()), e);
        }
    }

    /// Names of the images in a directory that {@link #fetch} wrote.
    public static List<String> names(Path layout) throws IOException {
        return new ImageLayout(layout).names();
    }

    /// Takes an image out of a file or directory: an archive of `docker save`, or an OCI layout, which may be a
    /// directory.
    ///
    /// @param name which image to take, as the archive names it; null if it has only one
    public PulledImage load(Path archive, @Nullable String name, BuildProgress progress) {
        progress.at("reading the archive", "", 0);
        prepare();
        try (var staging = Staging.open(directory.resolve("staging"));
                var files = ArchiveFiles.open(archive, staging.directory(), limits)) {
            var image = new ArchivedImage(files, name);
            var plan = image.plan();
            int count = plan.layers().size();
            return install.install(plan, index -> {
                progress.at("unpacking", "layer %d of %d".formatted(index + 1, count), (double) index / count);
                return image.layer(plan, index);
            });
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.FAILED, "the image archive could not be read: %s".formatted(e.getMessage()), e);
        }
    }

    /// Documents of images that were not used since, and files of killed pulls. Layers of images are handled like all
    /// others.
    public List<Unused> unused(Instant before) {
        try {
            var unused = new ArrayList<>(Staging.unused(directory.resolve("staging")));
            Unused.files("documents of images", documents.unused(before), Files::deleteIfExists)
                    .ifPresent(unused::add);
            return unused;
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "cannot look for unused files in " + directory, e);
        }
    }

    /// Writes an image as one file, an OCI layout that `docker load` reads too.
    ///
    /// @param layers from the bottom up
    /// @param config what programs of the image are run with, as in an image's configuration
    /// @param name   of the image, with its tag
    public void write(List<Path> layers, Map<String, Object> config, String name, OutputStream out) throws IOException {
        prepare();
        try (var staging = Staging.open(directory.resolve("staging"))) {
            var archive = new ImageArchive(out, staging.directory());
            for (var layer : layers) {
                archive.add(layer);
            }
            archive.finish(config, name);
        }
    }

    /// Sends an image archive to a registry.
    ///
    /// @param archive as {@link #write} makes it
    /// @return the digest by which the registry knows the image
    public Digest push(Path archive, ImageReference to, RegistryCredentials credentials, BuildProgress progress) {
        prepare();
        try (var staging = Staging.open(directory.resolve("staging"));
                var files = ArchiveFiles.open(archive, staging.directory(), limits)) {
            return new RegistryPush(http, to, credentials, settings).push(files, progress);
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE, "image %s could not be sent: %s".formatted(to, e.getMessage()), e);
        }
    }

    /// Makes the directories for root only, because configurations of images may be private.
    private void prepare() {
        try {
            Files.createDirectories(directory);
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "%s cannot be made".formatted(directory), e);
        }
    }

    /// Mirrors get no credentials: these are for the registry.
    private List<Registry> places(ImageReference reference, RegistryCredentials credentials) {
        var places = new ArrayList<Registry>();
        for (var mirror : settings.mirrors().getOrDefault(reference.registry(), List.of())) {
            places.add(new Registry(http, mirror, reference.repository(), RegistryCredentials.none()));
        }
        if (settings.mirrorsOnly()) {
            if (places.isEmpty()) {
                throw new CayException(
                        ErrorKind.UNAVAILABLE,
                        "image %s cannot be pulled: images.mirrorsOnly is set, and images.mirrors names none for %s"
                                .formatted(reference, reference.registry()));
            }
            return places;
        }
        var base = settings.base(reference.registry());
        http.requireElsewhere(reference.registry(), base);
        places.add(new Registry(http, base, reference.repository(), credentials));
        return places;
    }

    @Override
    public void close() {
        http.close();
    }
}
