package dev.cay.server.build;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import dev.cay.dockerfile.BuildArguments;
import dev.cay.dockerfile.Buildable;
import dev.cay.dockerfile.DockerfileException;
import dev.cay.server.request.RequestBody;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A Dockerfile that a client sends to be built. It is checked when it is read.
///
/// @param name      of the file, for messages
/// @param filesHash names the archive of the build context; null if nothing is copied from it
/// @param arguments values of ARGs
/// @param target    the stage to build; null for the last one
@JsonIgnoreProperties(ignoreUnknown = true)
record DockerfileStart(
        String text,
        String name,
        @Nullable String filesHash,
        Map<String, String> arguments,
        @Nullable String target) {
    private static final Pattern HASH = Pattern.compile("[0-9a-f]{64}");
    private static final int LONGEST_NAME = 200;

    DockerfileStart {
        arguments = Map.copyOf(arguments);
    }

    /// @return null when the client sends none
    static @Nullable DockerfileStart read(RequestBody body) {
        String text = body.filled("dockerfile");
        if (text == null) {
            return null;
        }
        if (body.says("fromImageRegistry")) {
            throw RequestBody.invalid("'fromImageRegistry' is for 'fromImage'; 'dockerfile' takes 'registryLogins'");
        }
        String name = body.filled("dockerfileName");
        if (name != null && (name.length() > LONGEST_NAME || name.chars().anyMatch(Character::isISOControl))) {
            throw RequestBody.invalid("'dockerfileName' must be the name of a file");
        }
        String hash = body.filled("filesHash");
        if (hash != null && !HASH.matcher(hash).matches()) {
            throw RequestBody.invalid("'filesHash' must be 64 digits of 0-9 and a-f in lower case");
        }
        var start = new DockerfileStart(
                text, name == null ? "Dockerfile" : name, hash, body.map("buildArgs"), body.filled("target"));
        if (start.plan().needsContext() && hash == null) {
            throw RequestBody.invalid("'filesHash' is required, as the Dockerfile copies files of its context");
        }
        return start;
    }

    private Buildable.Plan plan() {
        try {
            return Buildable.read(text, name, BuildArguments.ofHost(arguments), target);
        } catch (DockerfileException e) {
            throw RequestBody.invalid(String.valueOf(e.getMessage()));
        }
    }

    /// Names of the images that the build needs, as the Dockerfile has them.
    Set<String> images() {
        return plan().images();
    }
}
