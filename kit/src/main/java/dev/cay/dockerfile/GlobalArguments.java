package dev.cay.dockerfile;

import dev.cay.dockerfile.Instruction.Assignment;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The ARGs before the first FROM, with their values. FROM sees them; a stage sees those that it declares again.
final class GlobalArguments {
    private final String file;
    private final BuildArguments given;
    private final Expansion expansion;
    private final Map<String, String> values = new LinkedHashMap<>();

    /// @param expansion the expansion whose size budget the values use
    GlobalArguments(Dockerfile dockerfile, BuildArguments given, Expansion expansion) {
        this.file = dockerfile.fileName();
        this.given = given;
        this.expansion = expansion;
        given.platformArguments()
                .forEach((name, value) -> values.put(name, given.values().getOrDefault(name, value)));
        for (var arg : dockerfile.arguments()) {
            arg.assignments().forEach(this::declare);
        }
    }

    private void declare(Assignment argument) {
        String name = expand(argument.name(), argument.at());
        String outside = given.values().get(name);
        if (outside != null) {
            values.put(name, outside);
        } else if (argument.value() != null) {
            values.put(name, expand(argument.value(), argument.at()));
        }
    }

    /// The value of an ARG in a stage: the build's argument, else the ARG's own default, else the global value.
    @Nullable
    String value(String name, @Nullable String fallback) {
        String outside = given.values().get(name);
        if (outside != null) {
            return outside;
        }
        return fallback == null ? values.get(name) : fallback;
    }

    /// A word of FROM.
    String expand(String word, Position at) {
        try {
            return expansion.word(word, values::get);
        } catch (Expansion.Failure e) {
            throw new DockerfileException(file, at, e.what(), e.fix());
        }
    }
}
