package dev.cay.server.build;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import dev.cay.server.request.RequestBody;
import dev.cay.wire.node.BuildPlan.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The steps of a build and what they begin with, as a client sends them.
@JsonIgnoreProperties(ignoreUnknown = true)
record BuildStart(
        @Nullable String fromImage,
        @Nullable String fromTemplate,
        boolean force,
        List<Step> steps,
        @Nullable String startCmd,
        @Nullable String readyCmd,
        @Nullable DockerfileStart dockerfile,
        @Nullable ArchiveStart archive) {
    private static final Set<String> TYPES = Set.of("RUN", "COPY", "ADD", "ENV", "ARG", "WORKDIR", "USER");
    private static final int MOST_STEPS = 1000;

    BuildStart {
        steps = List.copyOf(steps);
    }

    static BuildStart read(RequestBody body) {
        String image = body.filled("fromImage");
        String template = body.filled("fromTemplate");
        var dockerfile = DockerfileStart.read(body);
        var archive = ArchiveStart.read(body);
        if (Stream.of(image, template, dockerfile, archive)
                        .filter(Objects::nonNull)
                        .count()
                != 1) {
            throw RequestBody.invalid(
                    "exactly one of 'fromImage', 'fromTemplate', 'fromArchive' and 'dockerfile' is required");
        }
        var steps = new ArrayList<Step>();
        for (var step : body.objects("steps")) {
            String type = step.text("type");
            if (type == null || !TYPES.contains(type)) {
                throw RequestBody.invalid("'steps[%d].type' must be one of %s".formatted(steps.size(), TYPES));
            }
            steps.add(new Step(
                    type, step.texts("args"), step.filled("filesHash"), Boolean.TRUE.equals(step.bool("force"))));
        }
        if (steps.size() > MOST_STEPS) {
            throw RequestBody.invalid("a template may have at most %d steps".formatted(MOST_STEPS));
        }
        return new BuildStart(
                image,
                template,
                Boolean.TRUE.equals(body.bool("force")),
                steps,
                body.filled("startCmd"),
                body.filled("readyCmd"),
                dockerfile,
                archive);
    }
}
