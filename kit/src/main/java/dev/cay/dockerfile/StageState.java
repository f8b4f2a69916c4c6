package dev.cay.dockerfile;

import dev.cay.dockerfile.Instruction.Timing;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// What a stage has set up to some instruction: the configuration of the image that it makes, and its ARGs.
///
/// @param environment in the order in which the variables were first set
/// @param arguments   ARGs that are declared and have a value; stages that are based on this one have them too
/// @param user        empty for the image's default, root
/// @param command     of CMD as a program and arguments, shell form with its shell in front; null for none
/// @param ports       like `80/tcp` or `8000-8010/udp`
/// @param stopSignal  null for the default, SIGTERM
public record StageState(
        Map<String, String> environment,
        Map<String, String> arguments,
        String user,
        String workdir,
        List<String> shell,
        @Nullable List<String> entrypoint,
        @Nullable List<String> command,
        @Nullable Health health,
        List<String> ports,
        Map<String, String> labels,
        List<String> volumes,
        @Nullable String stopSignal) {
    private static final List<String> DEFAULT_SHELL = List.of("/bin/sh", "-c");

    /// A state that was not changed shares its collections with the one before.
    public StageState {
        environment = Collections.unmodifiableMap(environment);
        arguments = Collections.unmodifiableMap(arguments);
        shell = List.copyOf(shell);
        entrypoint = entrypoint == null ? null : List.copyOf(entrypoint);
        command = command == null ? null : List.copyOf(command);
        ports = List.copyOf(ports);
        labels = Collections.unmodifiableMap(labels);
        volumes = List.copyOf(volumes);
    }

    /// @param test a program and its arguments, shell form with its shell in front
    public record Health(List<String> test, Timing timing) {
        public Health {
            test = List.copyOf(test);
        }
    }

    /// The begin of a stage that is based on an image with nothing but variables.
    public static StageState withEnvironment(Map<String, String> environment) {
        return new StageState(
                new LinkedHashMap<>(environment),
                Map.of(),
                "",
                "/",
                DEFAULT_SHELL,
                null,
                null,
                null,
                List.of(),
                Map.of(),
                List.of(),
                null);
    }

    /// `FROM scratch`.
    public static StageState empty() {
        return withEnvironment(Map.of());
    }

    /// The same state for a stage that is based on this one, without ARGs.
    public StageState asBase() {
        return new StageState(
                environment,
                Map.of(),
                user,
                workdir,
                shell,
                entrypoint,
                command,
                health,
                ports,
                labels,
                volumes,
                stopSignal);
    }

    /// The variables that a RUN has: ARGs, and ENV which wins.
    public Map<String, String> runEnvironment() {
        var all = new LinkedHashMap<>(arguments);
        all.putAll(environment);
        return all;
    }

    /// The value that a word sees; null for none.
    @Nullable
    String value(String name) {
        String value = environment.get(name);
        return value == null ? arguments.get(name) : value;
    }

    StageState with(Consumer<Draft> change) {
        var draft = new Draft(this);
        change.accept(draft);
        return new StageState(
                draft.environment,
                draft.arguments,
                draft.user,
                draft.workdir,
                draft.shell,
                draft.entrypoint,
                draft.command,
                draft.health,
                List.copyOf(draft.ports),
                draft.labels,
                List.copyOf(draft.volumes),
                draft.stopSignal);
    }

    /// A state while it is changed. Methods copy a map that is about to be changed; fields are replaced.
    static final class Draft {
        private Map<String, String> environment;
        private Map<String, String> arguments;
        private Map<String, String> labels;
        private Collection<String> ports;
        private Collection<String> volumes;
        String user;
        String workdir;
        List<String> shell;

        @Nullable
        List<String> entrypoint;

        @Nullable
        List<String> command;

        @Nullable
        Health health;

        @Nullable
        String stopSignal;

        private Draft(StageState state) {
            environment = state.environment;
            arguments = state.arguments;
            labels = state.labels;
            ports = state.ports;
            volumes = state.volumes;
            user = state.user;
            workdir = state.workdir;
            shell = state.shell;
            entrypoint = state.entrypoint;
            command = state.command;
            health = state.health;
            stopSignal = state.stopSignal;
        }

        void setEnvironment(Map<String, String> changes) {
            environment = merged(environment, changes);
        }

        void setArguments(Map<String, String> changes) {
            arguments = merged(arguments, changes);
        }

        void setLabels(Map<String, String> changes) {
            labels = merged(labels, changes);
        }

        void addPorts(Collection<String> more) {
            ports = merged(ports, more);
        }

        void addVolumes(Collection<String> more) {
            volumes = merged(volumes, more);
        }

        private static Map<String, String> merged(Map<String, String> old, Map<String, String> changes) {
            var merged = new LinkedHashMap<>(old);
            merged.putAll(changes);
            return merged;
        }

        private static Collection<String> merged(Collection<String> old, Collection<String> more) {
            var merged = new LinkedHashSet<>(old);
            merged.addAll(more);
            return merged;
        }
    }
}
