package dev.cay.life;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Named points in work that must survive a crash at each of them.
///
/// They have no effect in a daemon of users, because nothing on its class path listens. The proofs `faults`, `builds`
/// and `webhooks` add a listener to their own daemons. So they kill the daemon, or fill the disk, at every step and
/// not only at random.
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
