package dev.cay.runner;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import jdk.jshell.execution.DirectExecutionControl;
import jdk.jshell.spi.ExecutionControl;
import jdk.jshell.spi.ExecutionControlProvider;
import jdk.jshell.spi.ExecutionEnv;
import org.jspecify.annotations.Nullable;

/// Executes what JShell compiled, in this JVM, on a thread of its own for every snippet.
///
/// The JDK's local control would wait for threads that a cell leaves behind, and would wait for ever for one that does
/// not answer an interrupt (`CompletableFuture.join`, a long regular expression). This one leaves both behind.
final class CellControl extends DirectExecutionControl {
    /// As much as the main thread of a process usually has.
    private static final long STACK = 8 << 20;

    /// How long code may take to end after it was interrupted, before it is left alone.
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final StopChecks checks = new StopChecks();
    private final Object lock = new Object();
    private boolean stopped;
    private @Nullable Running running;

    ExecutionControlProvider provider() {
        return new ExecutionControlProvider() {
            @Override
            public String name() {
                return "cay";
            }

            @Override
            public ExecutionControl generate(ExecutionEnv env, Map<String, String> parameters) {
                return CellControl.this;
            }
        };
    }

    @Override
    public void load(ClassBytecodes[] classes)
            throws ClassInstallException, NotImplementedException, EngineTerminationException {
        for (var one : classes) {
            checks.learn(one.bytecodes());
        }
        super.load(Arrays.stream(classes)
                .map(one -> new ClassBytecodes(one.name(), checks.weave(one.bytecodes())))
                .toArray(ClassBytecodes[]::new));
    }

    boolean stopped() {
        synchronized (lock) {
            return stopped;
        }
    }

    @Override
    protected String invoke(Method method) throws Exception {
        var run = new Running(method);
        synchronized (lock) {
            if (stopped) {
                throw new StoppedException();
            }
            running = run;
        }
        try {
            run.thread.start();
            run.await();
        } finally {
            synchronized (lock) {
                running = null;
            }
        }
        return run.outcome();
    }

    /// Before a cell: interrupts of the one before do not count for it.
    void prepare() {
        synchronized (lock) {
            stopped = false;
            Stop.clear();
        }
    }

    /// Ends what runs and starts nothing more, for the rest of the cell.
    @Override
    public void stop() {
        synchronized (lock) {
            stopped = true;
            if (running != null) {
                running.stop();
            }
        }
    }

    private static final class Running {
        private final Method method;
        private final CellThreads group = new CellThreads();
        private final Thread thread = new Thread(group, this::run, "cell", STACK);
        private final CountDownLatch over = new CountDownLatch(1);
        private final CountDownLatch stopped = new CountDownLatch(1);
        private volatile @Nullable String value;
        private volatile @Nullable Throwable problem;

        Running(Method method) {
            this.method = method;
        }

        private void run() {
            try {
                value = text(method.invoke(null));
            } catch (InvocationTargetException e) {
                problem = e.getCause();
            } catch (Throwable e) {
                problem = e;
            } finally {
                over.countDown();
            }
        }

        void stop() {
            Stop.order(group);
            group.interrupt();
            stopped.countDown();
        }

        /// Until it is over, or did not care for an interrupt.
        void await() throws InterruptedException {
            while (!over.await(20, TimeUnit.MILLISECONDS)) {
                if (stopped.getCount() == 0) {
                    if (!over.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                        return;
                    }
                }
            }
        }

        String outcome() throws StoppedException, InvocationTargetException {
            if (over.getCount() > 0 || problem instanceof CellStopped) {
                throw new StoppedException();
            }
            if (problem != null) {
                throw new InvocationTargetException(problem);
            }
            return value == null ? "" : value;
        }

        /// The node cuts one pair of quotes off every text, so strings and characters get one, and nothing is escaped.
        private static String text(@Nullable Object result) {
            return switch (result) {
                case null -> "null";
                case String string -> '"' + string + '"';
                case Character character -> "'" + character + "'";
                default -> {
                    var text = valueString(result);
                    yield text == null ? "null" : text;
                }
            };
        }
    }
}
