package dev.cay.life;

import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Releases resources, newest first, unless {@link #keep} is reached. A failing step does not stop the others.
public final class Undo implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Undo.class);

    /// Something that can be taken back.
    public interface Step {
        void run() throws Exception;
    }

    private final Deque<Step> steps = new ArrayDeque<>();

    public <T extends AutoCloseable> T add(T resource) {
        steps.push(resource::close);
        return resource;
    }

    public void step(Step step) {
        steps.push(step);
    }

    /// Keeps all resources, after success.
    public void keep() {
        steps.clear();
    }

    @Override
    public void close() {
        while (!steps.isEmpty()) {
            try {
                steps.pop().run();
            } catch (Exception e) {
                log.atWarn().setCause(e).log("an undo step failed");
            }
        }
    }
}
