package dev.cay.prove.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.cay.life.Trees;
import dev.cay.life.Undo;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.oci.Images;
import dev.cay.node.image.oci.LayerLimits;
import dev.cay.node.image.oci.LayerUnpacker;
import dev.cay.node.image.oci.RegistrySettings;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/// The unpacker of image layers and the reader of image archives, in this process.
final class LayerTarget implements Target {
    private static final int ENCLOSURES = 4;
    private static final long MOST_BYTES = 1L << 30;
    private static final int LONGEST_MESSAGE = 3000;

    /// Small, so that inputs reach them.
    private static final LayerLimits SMALL =
            new LayerLimits(4 << 20, 300, 250, 1 << 30, 64 << 10, 64, Duration.ofSeconds(15));

    private final Undo closing = new Undo();
    private final Deadlines deadlines = new Deadlines(MOST_BYTES);
    private final BlockingQueue<Enclosure> enclosures = new ArrayBlockingQueue<>(ENCLOSURES);
    private final OwnDescriptors descriptors = new OwnDescriptors();

    LayerTarget() throws IOException {
        try (var undo = new Undo()) {
            undo.add(closing);
            Path scratch = Files.createTempDirectory(Path.of("/dev/shm"), "cay-fuzz-");
            closing.step(() -> Trees.delete(scratch));
            for (int i = 0; i < ENCLOSURES; i++) {
                enclosures.add(new Enclosure(scratch.resolve(Integer.toString(i))));
            }
            undo.keep();
        }
    }

    @Override
    public String name() {
        return "layers";
    }

    @Override
    public Played play(long seed) throws IOException, InterruptedException {
        var dice = new Dice(seed);
        var enclosure = enclosures.take();
        try {
            var inputs = new LayerInputs(dice, enclosure.outside().toString());
            var limits = dice.oneIn(3) ? LayerLimits.DEFAULT : SMALL;
            if (dice.oneIn(10)) {
                byte[] archive = new ImageInputs(dice, inputs).archive();
                return deadlines.limit(
                        seed, () -> play("image", archive, enclosure, () -> load(archive, limits, enclosure)));
            }
            byte[] layer = inputs.layer();
            boolean lowest = dice.oneIn(3);
            return deadlines.limit(
                    seed,
                    () -> play("layer", layer, enclosure, () -> {
                        var below = lowest ? List.<Path>of() : enclosure.below();
                        new LayerUnpacker(limits).unpack(new ByteArrayInputStream(layer), enclosure.rootfs(), below);
                    }));
        } finally {
            enclosures.add(enclosure);
        }
    }

    /// What may fail.
    private interface Unpacking {
        void run() throws IOException;
    }

    private static Played play(String kind, byte[] input, Enclosure enclosure, Unpacking unpacking) throws IOException {
        String outcome = kind + " unpacked";
        String wrong = "";
        String message = "";
        try {
            unpacking.run();
        } catch (CayException e) {
            outcome = kind + " refused";
            message = String.valueOf(e.getMessage());
            wrong = wrong(e, message);
        } catch (IOException | RuntimeException | StackOverflowError e) {
            outcome = kind + " broke";
            wrong = "threw " + e + DockerfileTarget.at(e);
        }
        String found = enclosure.inspect();
        return new Played(outcome, wrong.isEmpty() ? found : wrong, input, message.getBytes(UTF_8));
    }

    private static String wrong(CayException refusal, String message) {
        if (refusal.kind() != ErrorKind.FAILED) {
            return "refused as %s: %s, caused by %s".formatted(refusal.kind(), message, refusal.getCause());
        }
        boolean readable =
                message.length() <= LONGEST_MESSAGE && message.chars().noneMatch(Character::isISOControl);
        return readable ? "" : "refused with a message that is no line of text";
    }

    private static void load(byte[] archive, LayerLimits limits, Enclosure enclosure) throws IOException {
        Path file = Files.write(enclosure.rootfs().resolve("image.tar"), archive);
        Path cache = enclosure.rootfs().resolve("cache");
        try (var images = new Images(new LayerStore(cache), cache, RegistrySettings.DEFAULT, limits, () -> {
            throw new IllegalStateException("an archive needs no registry");
        })) {
            images.load(file, null, (_, _, _) -> {});
        } finally {
            enclosure.requireNothingUnfinished(cache);
        }
    }

    @Override
    public String tidy() {
        return deadlines.overdue();
    }

    @Override
    public String settle() throws IOException {
        return descriptors.more();
    }

    @Override
    public void close() {
        closing.close();
    }
}
