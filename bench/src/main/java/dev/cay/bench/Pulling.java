package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.life.Trees;
import dev.cay.node.host.Programs;
import dev.cay.node.image.HouseTemplate;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.oci.Credentials;
import dev.cay.node.image.oci.ImageReference;
import dev.cay.node.image.oci.Images;
import dev.cay.node.image.oci.LayerLimits;
import dev.cay.node.image.oci.RegistrySettings;
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

/// Images of a registry on this machine, fetched and unpacked, beside the programs that others use for it.
final class Pulling implements Measurement {
    private static final Path CACHE = Path.of("/var/cache/cay");
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final int RUNS = 3;

    /// A gigabyte in two layers, of which one has many small files and the other one few large ones.
    private static final String CONTENT = "claude";

    @Override
    public String name() {
        return "pull";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        var programs = Programs.ofHost();
        for (String program : List.of("skopeo", "umoci")) {
            if (!programs.run(LIMIT, program, "--version").ok()) {
                throw new CayException(
                        ErrorKind.UNAVAILABLE,
                        "the baseline needs %s: apt-get install skopeo umoci".formatted(program));
            }
        }
        var work = Files.createTempDirectory(CACHE, "bench-pull-");
        try (var registry = OwnRegistry.start(work.resolve("registry"), false)) {
            var image = ImageReference.parse(registry.host() + "/bench/image:v1");
            long bytes = push(work, image, progress);
            double[] own = new double[RUNS];
            double[] others = new double[RUNS];
            for (int run = 0; run < RUNS; run++) {
                own[run] = timed(work.resolve("own"), place -> pull(place, image));
                others[run] = timed(work.resolve("others"), place -> pullByOthers(programs, place, image));
                progress.detail("%.1f s, others %.1f s".formatted(own[run], others[run]));
            }
            return List.of(Figure.of(
                            "image of %.1f GB, pulled and unpacked, p50".formatted(bytes / 1e9),
                            "s",
                            new Times(own).p50(),
                            "registry on loopback, gzip, n=%d".formatted(RUNS))
                    .beside("skopeo copy and umoci unpack", new Times(others).p50())
                    .atMostTimes(1));
        } finally {
            Trees.delete(work);
        }
    }

    private interface Work {
        void run(Path place) throws Exception;
    }

    /// @return seconds, without the time that it takes to remove all again
    private static double timed(Path place, Work work) throws Exception {
        Files.createDirectories(place);
        try {
            long began = System.nanoTime();
            work.run(place);
            return (System.nanoTime() - began) / 1e9;
        } finally {
            Trees.delete(place);
        }
    }

    /// @return bytes on disk of what the image holds
    private static long push(Path work, ImageReference image, Progress progress) throws IOException {
        var layers = new LayerStore(CACHE);
        var template = new HouseTemplate(CONTENT, layers, Programs.ofHost(), work.resolve("logs"));
        var keys = template.build((_, _, _) -> {});
        var archive = work.resolve("image.tar");
        try (var images = images(work.resolve("push"), image);
                var out = new BufferedOutputStream(Files.newOutputStream(archive))) {
            images.write(keys.reversed().stream().map(layers::require).toList(), Map.of(), "bench:v1", out);
            out.flush();
            progress.detail("image packed");
            images.push(archive, image, Credentials.none(), (_, _, _) -> {});
        }
        Files.delete(archive);
        return template.size();
    }

    private static void pull(Path cache, ImageReference image) {
        try (var images = images(cache, image)) {
            images.pull(image, Credentials.none(), (_, _, _) -> {});
        }
    }

    private static void pullByOthers(Programs programs, Path place, ImageReference image) {
        String layout = place.resolve("layout") + ":v1";
        programs.require(LIMIT, "skopeo", "copy", "--src-tls-verify=false", "docker://" + image, "oci:" + layout);
        programs.require(
                LIMIT,
                "umoci",
                "unpack",
                "--image",
                layout,
                place.resolve("bundle").toString());
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
}
