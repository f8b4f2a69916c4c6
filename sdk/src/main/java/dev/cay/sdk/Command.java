package dev.cay.sdk;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A command line for the sandbox's shell, and how to run it.
///
/// @param text        run by `bash -l -c`
/// @param cwd         its working directory; the user's home when null
/// @param env         variables in addition to the sandbox's
/// @param user        the user that runs it; the template's default user when null
/// @param timeout     time after which it is killed; zero for never
/// @param stdin       whether it reads input from {@link RunningCommand#send}; otherwise its input is empty
/// @param onStdout    called with each piece of standard output, in order, while the command runs
/// @param onStderr    the same for standard error
/// @param outputLimit how many characters of each are kept for the result; the two listeners get all
public record Command(
        String text,
        @Nullable String cwd,
        Map<String, String> env,
        @Nullable String user,
        Duration timeout,
        boolean stdin,
        Consumer<String> onStdout,
        Consumer<String> onStderr,
        int outputLimit) {
    private static final Duration USUAL_TIMEOUT = Duration.ofSeconds(60);

    /// Protects the memory of this program from a command that prints without end.
    private static final int USUAL_LIMIT = 16 << 20;

    public Command {
        env = Map.copyOf(env);
        if (timeout.isNegative()) {
            throw new SandboxException(SandboxException.Kind.INVALID, "timeout must not be negative; zero is never");
        }
        if (outputLimit < 0) {
            throw new SandboxException(SandboxException.Kind.INVALID, "outputLimit must not be negative");
        }
    }

    /// A command that runs as the template's default user, in its home, for at most a minute.
    public static Command of(String text) {
        return new Command(text, null, Map.of(), null, USUAL_TIMEOUT, false, _ -> {}, _ -> {}, USUAL_LIMIT);
    }

    public Command in(String directory) {
        return new Command(text, directory, env, user, timeout, stdin, onStdout, onStderr, outputLimit);
    }

    public Command with(String name, String value) {
        var more = new LinkedHashMap<>(env);
        more.put(name, value);
        return new Command(text, cwd, more, user, timeout, stdin, onStdout, onStderr, outputLimit);
    }

    public Command as(String name) {
        return new Command(text, cwd, env, name, timeout, stdin, onStdout, onStderr, outputLimit);
    }

    public Command within(Duration limit) {
        return new Command(text, cwd, env, user, limit, stdin, onStdout, onStderr, outputLimit);
    }

    /// The same command without a time limit.
    public Command withoutLimit() {
        return within(Duration.ZERO);
    }

    public Command withStdin() {
        return new Command(text, cwd, env, user, timeout, true, onStdout, onStderr, outputLimit);
    }

    public Command onStdout(Consumer<String> listener) {
        return new Command(text, cwd, env, user, timeout, stdin, listener, onStderr, outputLimit);
    }

    public Command onStderr(Consumer<String> listener) {
        return new Command(text, cwd, env, user, timeout, stdin, onStdout, listener, outputLimit);
    }

    public Command keeping(int characters) {
        return new Command(text, cwd, env, user, timeout, stdin, onStdout, onStderr, characters);
    }
}
