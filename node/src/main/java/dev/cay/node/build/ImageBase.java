package dev.cay.node.build;

import dev.cay.node.image.BuildProgress;
import dev.cay.node.image.ImageAccounts;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.oci.Credentials;
import dev.cay.node.image.oci.ImageReference;
import dev.cay.node.image.oci.Images;
import dev.cay.wire.CayException;
import dev.cay.wire.node.BuildPlan;
import dev.cay.wire.node.LogLine.Level;
import dev.cay.wire.node.RegistryLogin;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Makes of a container image what a build can begin with: its layers, the user that sandboxes have, and the programs
/// that clients call.
final class ImageBase {
    private static final Duration TOOLS_LIMIT = Duration.ofMinutes(10);

    /// Counts up when the same image gets something else.
    private static final String VERSION = "1";

    private static final String USER = "user";

    private final Images images;
    private final Steps.Workshop workshop;
    private final LayerStore layers;

    ImageBase(Images images, Steps.Workshop workshop) {
        this.images = images;
        this.workshop = workshop;
        this.layers = workshop.layers();
    }

    /// What a build begins with.
    record Begun(List<String> layers, BuildState state) {}

    Begun begin(BuildPlan plan, BuildPlan.Base.Image base, BuildVoice voice) throws IOException {
        var reference = ImageReference.parse(base.reference());
        voice.say("Pulling image %s".formatted(reference));
        var image = images.pull(reference, credentials(base.login()), new Steady(voice));
        voice.say("Image %s has %d layers"
                .formatted(image.digest(), image.layerKeys().size()));
        var keys = new ArrayList<>(workshop.mountable(image.layerKeys()));
        addTools(plan, keys, voice);
        var accounts = new ImageAccounts(keys.stream().map(layers::require).toList());
        String key = "accounts-" + LayerStore.hash(with(keys, VERSION));
        layers.build(key, accounts::fill);
        keys.addFirst(key);
        // The image's user, directory and entry point are for those who run it as it is.
        return new Begun(keys, new BuildState(USER, null, image.config().environment()));
    }

    /// Has the image's package manager install what is missing. Where it cannot, the build goes on and says so.
    private void addTools(BuildPlan plan, List<String> keys, BuildVoice voice) throws IOException {
        var tools = new ImageTools(keys.stream().map(layers::require).toList());
        var missing = tools.missing();
        if (missing.isEmpty()) {
            return;
        }
        var install = tools.install();
        if (install.isEmpty()) {
            voice.say(Level.WARN, tools.complaint());
            return;
        }
        String key = "tools-" + LayerStore.hash(with(keys, VERSION));
        try {
            voice.say("Installing %s".formatted(String.join(", ", missing)));
            layers.build(key, rootfs -> install(plan, keys, install.get(), voice, rootfs));
            keys.addFirst(key);
        } catch (CayException e) {
            voice.say(Level.WARN, "%s (%s)".formatted(tools.complaint(), e.userMessage()));
        }
    }

    private void install(BuildPlan plan, List<String> keys, String script, BuildVoice voice, Path rootfs)
            throws IOException {
        try (var room = workshop.rooms().open(plan.templateId(), keys, plan.resources())) {
            var command = new BuildRoom.Command(Scripts.command(script), "root", "/", Map.of());
            Steps.requireSuccess(room.run(command, null, voice, TOOLS_LIMIT), voice);
            ChangedFiles.copy(workshop.programs(), room.stop(), rootfs);
        }
    }

    private static List<String> with(List<String> keys, String more) {
        var all = new ArrayList<>(keys);
        all.add(more);
        return all;
    }

    private static Credentials credentials(RegistryLogin login) {
        return switch (login) {
            case RegistryLogin.None _ -> Credentials.none();
            case RegistryLogin.Password password -> new Credentials.Password(password.user(), password.password());
            case RegistryLogin.Aws aws ->
                new Credentials.Aws(aws.accessKeyId(), aws.secretAccessKey(), null, aws.region(), null);
            case RegistryLogin.Gcp gcp -> new Credentials.Gcp(gcp.serviceAccountJson());
        };
    }

    /// Says how far a pull is, every few seconds.
    private static final class Steady implements BuildProgress {
        private static final Duration EVERY = Duration.ofSeconds(2);

        private final BuildVoice voice;
        private long spoke;
        private String step = "";

        private Steady(BuildVoice voice) {
            this.voice = voice;
        }

        @Override
        public synchronized void at(String now, String detail, double fraction) {
            if (now.equals(step) && System.nanoTime() - spoke < EVERY.toNanos()) {
                return;
            }
            step = now;
            spoke = System.nanoTime();
            voice.say("%3.0f %% %s %s".formatted(fraction * 100, now, detail).strip());
        }
    }
}
