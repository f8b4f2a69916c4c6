package dev.cay.platform;

import static java.util.concurrent.TimeUnit.SECONDS;

import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What a daemon loads, kept in the form it has in memory: a start with it takes three fifths of the processor time.
/// The first process of a test run that asks makes the archive, among the run's files; without it all is only slower.
/// The JVM itself ignores an archive of other files than those on its class path.
final class ClassArchive {
    private static final Logger log = LoggerFactory.getLogger(ClassArchive.class);
    private static final int LIMIT_SECONDS = 120;

    /// Standard output belongs to the program: it is JSON that others read.
    private static final List<String> JVM_MESSAGES =
            List.of("-Xlog:disable", "-Xlog:all=warning,aot*=off,cds*=off:stderr");

    private ClassArchive() {}

    /// The flags for a JVM with this class path: none where it has directories, which an archive cannot hold.
    ///
    /// @param training the command whose classes are kept
    static synchronized List<String> flags(List<String> training, String classPath) {
        for (var entry : classPath.split(File.pathSeparator)) {
            if (!Files.isRegularFile(Path.of(entry))) {
                return List.of();
            }
        }
        try {
            var flags = new ArrayList<>(JVM_MESSAGES);
            flags.add("-XX:SharedArchiveFile=" + made(training, classPath));
            return flags;
        } catch (IOException e) {
            log.atWarn().setCause(e).log("no class data archive could be made; daemons start without one");
            return List.of();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return List.of();
        }
    }

    private static Path made(List<String> training, String classPath) throws IOException, InterruptedException {
        var directory = Path.of(System.getProperty("java.io.tmpdir"));
        var archive = directory.resolve("cay-classes-%08x.jsa".formatted(identity(classPath)));
        try (var channel = FileChannel.open(
                        Path.of(archive + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                var _ = channel.lock()) {
            if (!Files.exists(archive)) {
                make(training, archive);
            }
        }
        return archive;
    }

    /// Of the files themselves: an archive of others of the same names is of no use.
    private static int identity(String classPath) throws IOException {
        int hash = 0;
        for (var entry : classPath.split(File.pathSeparator)) {
            var file = Path.of(entry);
            hash = 31 * hash + Objects.hash(entry, Files.size(file), Files.getLastModifiedTime(file));
        }
        return hash;
    }

    private static void make(List<String> training, Path archive) throws IOException, InterruptedException {
        var unfinished = Path.of(archive + ".new");
        var output = Path.of(archive + ".log");
        var command = new ArrayList<>(training);
        command.add(1, "-XX:ArchiveClassesAtExit=" + unfinished);
        var process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        boolean ended = process.waitFor(LIMIT_SECONDS, SECONDS);
        process.destroyForcibly();
        if (!ended || process.exitValue() != 0) {
            throw new IOException("no archive of classes was made; see " + output);
        }
        Files.move(unfinished, archive, StandardCopyOption.ATOMIC_MOVE);
    }
}
