package dev.cay.life;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Points with a name in work that must survive a crash at each of them.
///
/// Nothing happens there in a daemon that users have: nothing on its class path listens. The proofs `faults`, `builds`
/// and `webhooks` add a class to their own daemons that does, and so kill the daemon at every step, or fill the disk,
/// and not at random.
public final class Steps {
    private static volatile @Nullable Consumer<String> listener;

    private Steps() {}

    public static void reach(String step) {
        var listening = listener;
        if (listening != null) {
            listening.accept(step);
        }
    }

    /// @param wanted called for each step on the thread that reaches it, which waits
    public static void listen(Consumer<String> wanted) {
        listener = wanted;
    }
}
