package dev.cay.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.filter.ThresholdFilter;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.rolling.FixedWindowRollingPolicy;
import ch.qos.logback.core.rolling.RollingFileAppender;
import ch.qos.logback.core.rolling.SizeBasedTriggeringPolicy;
import ch.qos.logback.core.spi.ContextAwareBase;
import ch.qos.logback.core.util.FileSize;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Configures logging: warnings to the console, in plain words; everything to a file of limited size.
///
/// Configured in code and found as a service, because reading an XML file would take longer than most commands do.
public final class DaemonLog extends ContextAwareBase implements Configurator {
    private static final String CONSOLE = "console";

    /// Loggers that warn of malformed requests. Their senders get an answer; operators need not know.
    private static final List<String> BROKEN_HEADS =
            List.of("org.eclipse.jetty.http.HttpParser", "org.eclipse.jetty.util.HostPort");

    private static final int FILES = 5;
    private static final String LARGEST = "20MB";
    static final long LARGEST_OUTPUT = 5 << 20;
    private static final Duration LOOK_EVERY = Duration.ofMinutes(1);

    @Override
    public ExecutionStatus configure(LoggerContext context) {
        var console = new ConsoleAppender<ILoggingEvent>();
        console.setContext(context);
        console.setName(CONSOLE);
        console.setTarget("System.err");
        console.setEncoder(encoder(context, "cay: %msg %kvp%n%nopex"));
        var warnings = new ThresholdFilter();
        warnings.setLevel("WARN");
        warnings.start();
        console.addFilter(warnings);
        console.start();
        var root = context.getLogger(Logger.ROOT_LOGGER_NAME);
        root.setLevel(Level.INFO);
        root.addAppender(console);
        context.getLogger("org.eclipse.jetty").setLevel(Level.WARN);
        // The store itself reports an outage once.
        context.getLogger("com.zaxxer.hikari").setLevel(Level.ERROR);
        BROKEN_HEADS.forEach(name -> context.getLogger(name).setLevel(Level.ERROR));
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }

    static Path directory(Path stateDir) {
        return stateDir.resolve("logs");
    }

    static Path file(Path stateDir) {
        return directory(stateDir).resolve("cay.log");
    }

    /// Also writes everything to the file from now on. The directory must exist.
    static void open(Path stateDir) {
        if (!(LoggerFactory.getILoggerFactory() instanceof LoggerContext context)) {
            return;
        }
        String path = file(stateDir).toString();
        var appender = new RollingFileAppender<ILoggingEvent>();
        appender.setContext(context);
        appender.setFile(path);
        appender.setEncoder(
                encoder(context, "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX,UTC} %-5level %logger{30} [%thread] %msg %kvp%n%ex"));
        var policy = new FixedWindowRollingPolicy();
        policy.setContext(context);
        policy.setParent(appender);
        policy.setFileNamePattern(path + ".%i.gz");
        policy.setMinIndex(1);
        policy.setMaxIndex(FILES);
        policy.start();
        var trigger = new SizeBasedTriggeringPolicy<ILoggingEvent>();
        trigger.setContext(context);
        trigger.setMaxFileSize(FileSize.valueOf(LARGEST));
        trigger.start();
        appender.setRollingPolicy(policy);
        appender.setTriggeringPolicy(trigger);
        appender.start();
        context.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(appender);
    }

    /// Sets the level for the console.
    static void tellConsole(String level) {
        if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
            var root = context.getLogger(Logger.ROOT_LOGGER_NAME);
            root.setLevel(Level.toLevel(level));
            var console = root.getAppender(CONSOLE);
            var filter = new ThresholdFilter();
            filter.setLevel(level);
            filter.start();
            console.clearAllFilters();
            console.addFilter(filter);
        }
    }

    /// Stops output to the console: warnings go to the file alone.
    static void leaveConsole() {
        if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
            context.getLogger(Logger.ROOT_LOGGER_NAME).detachAppender(CONSOLE);
        }
    }

    /// Limits the size of the console's file, to which only the JVM itself may still write.
    static void keepSmall(Path output) {
        Thread.ofVirtual().name("output").start(() -> {
            try {
                while (true) {
                    cut(output);
                    Thread.sleep(LOOK_EVERY);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    static void cut(Path output) {
        try {
            if (Files.exists(output) && Files.size(output) > LARGEST_OUTPUT) {
                Files.newByteChannel(output, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)
                        .close();
            }
        } catch (IOException e) {
            LoggerFactory.getLogger(DaemonLog.class)
                    .atWarn()
                    .setCause(e)
                    .log("the daemon's output could not be cut off");
        }
    }

    private static Encoder<ILoggingEvent> encoder(LoggerContext context, String pattern) {
        var encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern(pattern);
        encoder.start();
        return encoder;
    }
}
