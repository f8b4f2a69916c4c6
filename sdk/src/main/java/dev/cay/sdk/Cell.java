package dev.cay.sdk;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A piece of code for a sandbox's interpreter. Later cells of the same context see what it defines.
///
/// @param language python when null; javascript, typescript, bash, r, java
/// @param context  the context it runs in; the default context of its language when null
/// @param env      variables that are set only while it runs
/// @param timeout  time after which it is interrupted; zero for never
public record Cell(
        String code,
        @Nullable String language,
        @Nullable CodeContext context,
        Map<String, String> env,
        Duration timeout,
        Consumer<String> onStdout,
        Consumer<String> onStderr,
        Consumer<Result> onResult) {
    private static final Duration USUAL_TIMEOUT = Duration.ofSeconds(60);

    public Cell {
        env = Map.copyOf(env);
        if (language != null && context != null) {
            throw new SandboxException(
                    SandboxException.Kind.INVALID, "a context has its language: give one of language and context");
        }
        if (timeout.isNegative()) {
            throw new SandboxException(SandboxException.Kind.INVALID, "timeout must not be negative; zero is never");
        }
    }

    public static Cell of(String code) {
        return new Cell(code, null, null, Map.of(), USUAL_TIMEOUT, _ -> {}, _ -> {}, _ -> {});
    }

    public Cell in(String name) {
        return new Cell(code, name, context, env, timeout, onStdout, onStderr, onResult);
    }

    public Cell in(CodeContext other) {
        return new Cell(code, language, other, env, timeout, onStdout, onStderr, onResult);
    }

    public Cell with(String name, String value) {
        var more = new LinkedHashMap<>(env);
        more.put(name, value);
        return new Cell(code, language, context, more, timeout, onStdout, onStderr, onResult);
    }

    public Cell within(Duration limit) {
        return new Cell(code, language, context, env, limit, onStdout, onStderr, onResult);
    }

    public Cell onStdout(Consumer<String> listener) {
        return new Cell(code, language, context, env, timeout, listener, onStderr, onResult);
    }

    public Cell onStderr(Consumer<String> listener) {
        return new Cell(code, language, context, env, timeout, onStdout, listener, onResult);
    }

    public Cell onResult(Consumer<Result> listener) {
        return new Cell(code, language, context, env, timeout, onStdout, onStderr, listener);
    }
}
