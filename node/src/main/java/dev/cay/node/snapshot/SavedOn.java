package dev.cay.node.snapshot;

import dev.cay.node.host.Programs;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;

/// The facts about a machine that decide where memory saved on it can be restored.
///
/// @param runtime  name of the container runtime
/// @param criu     version of CRIU, which reads images of its own version and of older ones
/// @param cpu      kind of processor
/// @param features of the processor: a program that has detected a feature will use it
/// @param kernel   release, for people
public record SavedOn(String runtime, String criu, String cpu, SortedSet<String> features, String kernel) {
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final Pattern VERSION = Pattern.compile("Version:\\s*(\\d+(?:\\.\\d+)*)");
    private static final Pattern FEATURES = Pattern.compile("(?m)^(?:flags|Features)\\s*:(.*)$");

    private static final Pattern RELEASE = Pattern.compile("^(\\d+)\\.(\\d+)");

    /// Asks the programs of this host.
    public static SavedOn here() {
        return new SavedOn("runc", criuVersion(), System.getProperty("os.arch", ""), featuresHere(), kernelHere());
    }

    private static String criuVersion() {
        var answer = Programs.ofHost().run(LIMIT, "criu", "--version");
        var version = VERSION.matcher(answer.output());
        if (!version.find()) {
            throw new CayException(
                    ErrorKind.NOT_IMPLEMENTED,
                    "memory cannot be saved on this machine: criu does not tell its version; `cay doctor` says more");
        }
        return version.group(1);
    }

    private static SortedSet<String> featuresHere() {
        var found = new TreeSet<String>();
        var line = FEATURES.matcher(read("/proc/cpuinfo"));
        if (line.find()) {
            found.addAll(List.of(line.group(1).strip().split("\\s+")));
        }
        return found;
    }

    private static String kernelHere() {
        return read("/proc/sys/kernel/osrelease").strip();
    }

    private static String read(String file) {
        try {
            return Files.readString(Path.of(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Why memory saved there cannot be restored here.
    public Optional<String> unfitFor(SavedOn here) {
        if (!runtime.equals(here.runtime)) {
            return Optional.of("it was saved with %s, and this machine uses %s".formatted(runtime, here.runtime));
        }
        if (!cpu.equals(here.cpu)) {
            return Optional.of("it was saved on %s, and this machine is %s".formatted(cpu, here.cpu));
        }
        if (Runtime.Version.parse(criu).compareToIgnoreOptional(Runtime.Version.parse(here.criu)) > 0) {
            return Optional.of("it was saved with CRIU %s, and this machine has %s".formatted(criu, here.criu));
        }
        var missing = new TreeSet<>(features);
        missing.removeAll(here.features);
        return missing.isEmpty()
                ? Optional.empty()
                : Optional.of("this machine's processor lacks " + String.join(", ", missing));
    }

    /// Why memory saved there may fail here: an older kernel may lack what a newer one gave to a program.
    public Optional<String> newerKernelThan(SavedOn here) {
        var theirs = release(kernel);
        var ours = release(here.kernel);
        return theirs.isPresent() && ours.isPresent() && theirs.get().compareToIgnoreOptional(ours.get()) > 0
                ? Optional.of("it was saved on Linux %s, and this machine has %s".formatted(kernel, here.kernel))
                : Optional.empty();
    }

    private static Optional<Runtime.Version> release(String kernel) {
        var number = RELEASE.matcher(kernel);
        return number.find()
                ? Optional.of(Runtime.Version.parse(number.group(1) + "." + number.group(2) + ".1"))
                : Optional.empty();
    }
}
