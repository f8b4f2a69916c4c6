package dev.cay.node.build;

import dev.cay.node.image.BuildProgress;
import dev.cay.node.image.ImageAccounts;
import dev.cay.node.image.InterpreterLayers;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.oci.ImageReference;
import dev.cay.node.image.oci.Images;
import dev.cay.node.image.oci.PulledImage;
import dev.cay.node.image.oci.RegistryCredentials;
import dev.cay.wire.CayException;
import dev.cay.wire.node.BuildPlan;
import dev.cay.wire.node.LogLine.Level;
import dev.cay.wire.node.RegistryLogin;
import dev.cay.wire.node.StartCommand;
import dev.cay.wire.node.TemplateImage;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Prepares a container image as the base of a build: its layers, the default user, and the programs that clients call.
final class ImageBase {
    private static final Duration TOOLS_LIMIT = Duration.ofMinutes(10);

    /// Counts up when the same image gets something else.
    private static final String VERSION = "1";

    private static final String USER = "user";

    private final Images images;
    private final LayerBuilder layerBuilder;
    private final LayerStore layers;

    ImageBase(Images images, LayerBuilder layerBuilder) {
        this.images = images;
        this.layerBuilder = layerBuilder;
        this.layers = layerBuilder.layers();
    }

    /// The base of a build.
    ///
    /// @param start the start command of sandboxes if the plan has none; null for none
    record Prepared(
            List<String> layers, BuildState state, @Nullable StartCommand start) {}

    Prepared begin(BuildPlan plan, BuildPlan.Base.Image base, BuildVoice voice) throws IOException {
        var image = pull(base.reference(), base.login(), voice);
        var keys = furnish(plan, layerBuilder.mountable(image.layerKeys()), voice);
        // The image's user, directory and entry point are ignored: sandboxes are for clients, who run what they want.
        return new Prepared(keys, new BuildState(USER, null, image.config().environment()), null);
    }

    /// Prepares an image from an archive. An image that a Cay wrote has its template's settings; any other is treated
    /// like one of a registry.
    Prepared begin(BuildPlan plan, BuildPlan.Base.Archive base, BuildVoice voice) throws IOException {
        voice.say("Reading the image archive");
        var archive = layerBuilder.uploads().require(plan.teamId(), base.filesHash());
        var image = images.load(archive, base.image(), BuildProgress.paced(voice::say));
        var keys = furnish(plan, layerBuilder.mountable(image.layerKeys()), voice);
        var label = TemplateLabel.of(image.config()).orElse(null);
        if (label == null) {
            return new Prepared(keys, new BuildState(USER, null, image.config().environment()), null);
        }
        return new Prepared(
                keys,
                new BuildState(label.user(), label.workdir(), image.config().environment()),
                label.start());
    }

    void write(TemplateImage image, OutputStream out) throws IOException {
        // The Cay that reads it adds the interpreter that it has itself.
        var bottomFirst = layerBuilder.roots(image.layers().reversed().stream()
                .filter(key -> !InterpreterLayers.isOnDemand(key))
                .toList());
        images.write(bottomFirst, TemplateLabel.configuration(image), image.name(), out);
    }

    PulledImage pull(String name, RegistryLogin login, BuildVoice voice) {
        var reference = ImageReference.parse(name);
        voice.say("Pulling image %s".formatted(reference));
        var image = images.pull(reference, credentials(login), BuildProgress.paced(voice::say));
        voice.say("Image %s has %d layers"
                .formatted(image.digest(), image.layerKeys().size()));
        return image;
    }

    /// Adds what clients of sandboxes need: the user that sandboxes have, and programs.
    ///
    /// @param image few enough layers to be mounted, top first
    List<String> furnish(BuildPlan plan, List<String> image, BuildVoice voice) throws IOException {
        var keys = new ArrayList<>(image);
        addTools(plan, keys, voice);
        var accounts = new ImageAccounts(layerBuilder.roots(keys));
        String key = "accounts-" + LayerStore.hash(with(keys, VERSION));
        layers.build(key, accounts::fill);
        keys.addFirst(key);
        return keys;
    }

    /// Has the image's package manager install missing programs. If it cannot, the build continues and the log says so.
    private void addTools(BuildPlan plan, List<String> keys, BuildVoice voice) throws IOException {
        var tools = new ImageTools(layerBuilder.roots(keys));
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
        var command = new BuildSandbox.Command(Scripts.command(script), "root", "/", Map.of());
        layerBuilder.change(plan, keys, voice, rootfs, sandbox -> sandbox.run(command, null, voice, TOOLS_LIMIT));
    }

    private static List<String> with(List<String> keys, String more) {
        var all = new ArrayList<>(keys);
        all.add(more);
        return all;
    }

    private static RegistryCredentials credentials(RegistryLogin login) {
        return switch (login) {
            case RegistryLogin.None _ -> RegistryCredentials.none();
            case RegistryLogin.Password password ->
                new RegistryCredentials.Password(password.user(), password.password());
            case RegistryLogin.Aws aws ->
                new RegistryCredentials.Aws(aws.accessKeyId(), aws.secretAccessKey(), null, aws.region(), null);
            case RegistryLogin.Gcp gcp -> new RegistryCredentials.Gcp(gcp.serviceAccountJson());
        };
    }
}
