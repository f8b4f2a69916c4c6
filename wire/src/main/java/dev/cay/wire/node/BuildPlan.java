package dev.cay.wire.node;

import dev.cay.wire.BuildId;
import dev.cay.wire.TeamId;
import dev.cay.wire.TemplateId;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The inputs of a node for building a template.
///
/// @param force        whether steps are repeated that were done before
/// @param startCommand the command that sandboxes of the template have running; null for none
/// @param readyCommand ends with 0 when the start command is ready; null for the usual wait
/// @param resources    of the sandboxes that steps run in, and of those made from the template
public record BuildPlan(
        BuildId id,
        TemplateId templateId,
        TeamId teamId,
        Base base,
        List<Step> steps,
        boolean force,
        @Nullable String startCommand,
        @Nullable String readyCommand,
        Resources resources) {
    public BuildPlan {
        steps = List.copyOf(steps);
    }

    /// The base of a build.
    public sealed interface Base {
        /// Layers that this node has.
        ///
        /// @param layers      content keys, top first
        /// @param snapshot    a saved sandbox whose files are the base, on the layers that the node knows of
        ///                    it; null to start from the layers above
        /// @param environment variables of steps
        record Layers(
                List<String> layers,
                @Nullable String snapshot,
                String user,
                @Nullable String workdir,
                Map<String, String> environment)
                implements Base {
            public Layers {
                layers = List.copyOf(layers);
                environment = Map.copyOf(environment);
            }
        }

        /// An image of a registry.
        record Image(String reference, RegistryLogin login) implements Base {}

        /// An image that a client sent as an archive.
        ///
        /// @param filesHash names the archive
        /// @param image     which image of the archive; null for the only one
        record Archive(String filesHash, @Nullable String image) implements Base {}

        /// A Dockerfile, whose final state is the base of the steps.
        ///
        /// @param name      of the file, for messages
        /// @param filesHash names the archive of the build context; null if nothing is copied from it
        /// @param arguments values of ARGs
        /// @param target    the stage to build; null for the last one
        /// @param images    names of images in the Dockerfile that mean layers of this node; all others are
        ///                  pulled
        /// @param logins    by registry, as `host` or `host:port`; registries without one are used anonymously
        record Dockerfile(
                String text,
                String name,
                @Nullable String filesHash,
                Map<String, String> arguments,
                @Nullable String target,
                Map<String, Layers> images,
                Map<String, RegistryLogin> logins)
                implements Base {
            public Dockerfile {
                arguments = Map.copyOf(arguments);
                images = Map.copyOf(images);
                logins = Map.copyOf(logins);
            }
        }
    }

    /// One step.
    ///
    /// @param type      `RUN`, `COPY`, `ADD`, `ENV`, `ARG`, `WORKDIR` or `USER`
    /// @param filesHash names the files of a copy
    /// @param force     whether this step and all later ones are repeated
    public record Step(
            String type, List<String> args, @Nullable String filesHash, boolean force) {
        public Step {
            args = List.copyOf(args);
        }
    }
}
