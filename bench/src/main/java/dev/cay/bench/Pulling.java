package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.node.host.Programs;
import dev.cay.node.image.BuildProgress;
import dev.cay.node.image.HouseTemplate;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.oci.ImageReference;
import dev.cay.node.image.oci.Images;
import dev.cay.node.image.oci.LayerLimits;
import dev.cay.node.image.oci.RegistryCredentials;
import dev.cay.node.image.oci.RegistrySettings;
import dev.cay.platform.OwnCay;
import dev.cay.platform.Script;
import dev.cay.platform.Times;
import dev.cay.testing.OwnRegistry;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// An image of a registry on this machine, pulled and unpacked by a template build in a daemon, beside Debian's
/// programs for it.
///
/// The time is the daemon's own, from the lines of the build's log around the pull: this JVM runs with other options
/// than a daemon. Each run has a new daemon with an empty cache, so its code is as cold as after any start. Nothing is
/// removed before the last run: for minutes, ext4 looks at every deleted inode again whenever it makes a file, which
/// would double the time of whichever side comes next.
final class Pulling implements Measurement {
    private static final Path CACHE = Path.of("/var/cache/cay");
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final int RUNS = 3;

    /// A gigabyte in two layers, of which one has many small files and the other one few large ones.
    private static final String CONTENT = "claude";

    /// What all runs of both sides take until the end.
    private static final long DISK = 12L << 30;

    private final Programs programs = Programs.ofHost();

    @Override
    public String name() {
        return "pull";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        requireBaseline();
        try (var files = OwnFiles.make(Files.createDirectories(CACHE), name())) {
            requireSpace();
            var work = files.directory();
            try (var registry = OwnRegistry.start(work.resolve("registry"), false)) {
                var image = ImageReference.parse(registry.host() + "/bench/image:v1");
                var template = new HouseTemplate(CONTENT, new LayerStore(CACHE), programs, work.resolve("logs"));
                var keys = template.build(BuildProgress.paced(progress));
                push(work, keys, image, progress);
                double[] own = new double[RUNS];
                double[] others = new double[RUNS];
                for (int run = 0; run < RUNS; run++) {
                    String number = "run %d of %d".formatted(run + 1, RUNS);
                    progress.detail(number + ": a build in a daemon");
                    var cache = work.resolve("cache-" + run);
                    lendBase(cache, keys.getLast());
                    own[run] = build(cache, image);
                    progress.detail("%s: %.1f s; now skopeo and umoci".formatted(number, own[run]));
                    others[run] = pullByOthers(Files.createDirectory(work.resolve("others-" + run)), image);
                    progress.detail("%s: %.1f s, others %.1f s".formatted(number, own[run], others[run]));
                }
                return List.of(figure(template.size(), new Times(own), new Times(others)));
            } finally {
                progress.detail("removing the files of all runs");
            }
        }
    }

    private static Figure figure(long bytes, Times own, Times others) {
        return Figure.of(
                        "image of %.1f GB, pulled and unpacked, p50".formatted(bytes / 1e9),
                        "s",
                        own.p50(),
                        "template build from a registry on loopback, gzip, n=%d, a new daemon each".formatted(RUNS))
                .beside("skopeo copy and umoci unpack", others.p50())
                .atMostTimes(1);
    }

    private void requireBaseline() {
        for (String program : List.of("skopeo", "umoci")) {
            if (!programs.run(LIMIT, program, "--version").ok()) {
                throw new CayException(
                        ErrorKind.UNAVAILABLE,
                        "the baseline needs %s: apt-get install skopeo umoci".formatted(program));
            }
        }
    }

    private static void requireSpace() throws IOException {
        long free = Files.getFileStore(CACHE).getUsableSpace();
        if (free < DISK) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "the images of all runs need %,d MB in %s, which has only %,d MB free"
                            .formatted(DISK >> 20, CACHE, free >> 20));
        }
    }

    /// @param keys of the layers, the topmost first
    private static void push(Path work, List<String> keys, ImageReference image, Progress progress) throws IOException {
        var layers = new LayerStore(CACHE);
        var archive = work.resolve("image.tar");
        progress.detail("packing an image of the template %s, which takes a minute".formatted(CONTENT));
        try (var images = images(work.resolve("push"), image);
                var out = new BufferedOutputStream(Files.newOutputStream(archive))) {
            images.write(keys.reversed().stream().map(layers::require).toList(), Map.of(), "bench:v1", out);
            out.flush();
            images.push(archive, image, RegistryCredentials.none(), BuildProgress.paced(progress));
        }
        Files.delete(archive);
    }

    private static Images images(Path cache, ImageReference image) {
        var settings = RegistrySettings.DEFAULT.withPlainHttp(Set.of(image.registry()));
        return new Images(
                new LayerStore(cache),
                cache,
                settings,
                LayerLimits.DEFAULT,
                () -> Images.client(settings).build());
    }

    /// @return seconds between the begin of the pull and the last layer in the store
    private static double build(Path cache, ImageReference image) throws IOException, InterruptedException {
        var settings = Map.of("cacheDir", cache.toString(), "images.registries", "http://" + image.registry());
        try (var cay = OwnCay.start(settings);
                var script = Script.start(cay, Pulling.class, "pull.mjs", image)) {
            return script.next(LIMIT).get("seconds").asDouble();
        }
    }

    /// Puts the template base into an empty cache, by a link, as a daemon makes it otherwise before it is ready. The
    /// layers of an image have other keys.
    private static void lendBase(Path cache, String key) throws IOException {
        var layers = Files.createDirectories(cache.resolve("layers"));
        Files.createSymbolicLink(layers.resolve(key), CACHE.resolve("layers").resolve(key));
    }

    /// @return seconds, without those in which the kernel writes to the disk what they did not sync
    private double pullByOthers(Path place, ImageReference image) {
        String layout = place.resolve("layout") + ":v1";
        String bundle = place.resolve("bundle").toString();
        long began = System.nanoTime();
        programs.require(LIMIT, "skopeo", "copy", "--src-tls-verify=false", "docker://" + image, "oci:" + layout);
        programs.require(LIMIT, "umoci", "unpack", "--image", layout, bundle);
        double took = (System.nanoTime() - began) / 1e9;
        programs.require(LIMIT, "sync", "-f", place.toString());
        return took;
    }
}
