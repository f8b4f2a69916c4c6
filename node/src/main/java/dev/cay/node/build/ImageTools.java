package dev.cay.node.build;

import dev.cay.node.image.LayerView;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/// Programs that clients of sandboxes call, as far as an image has them.
final class ImageTools {
    private static final List<String> DIRECTORIES =
            List.of("bin", "usr/bin", "usr/local/bin", "sbin", "usr/sbin", "usr/local/sbin");

    /// A program, and the package that has it in each family of systems.
    private record Program(String name, String debian, String alpine, String fedora, String arch) {
        Program(String name) {
            this(name, name, name, name, name);
        }
    }

    private static final List<Program> PROGRAMS = List.of(
            new Program("bash"),
            new Program("sudo"),
            new Program("curl"),
            new Program("ss", "iproute2", "iproute2-ss", "iproute", "iproute2"),
            new Program("pgrep", "procps", "procps", "procps-ng", "procps-ng"));

    /// A package manager, with a script in which packages take the place of `%s`.
    private record Installer(String name, String script, Function<Program, String> packages) {}

    private static final List<Installer> INSTALLERS = List.of(
            new Installer(
                    "apt-get",
                    "export DEBIAN_FRONTEND=noninteractive; apt-get update -q -o Acquire::Retries=1 "
                            + "&& apt-get install -q -y --no-install-recommends %s && rm -rf /var/lib/apt/lists/*",
                    Program::debian),
            new Installer("apk", "apk add --no-cache %s", Program::alpine),
            new Installer("dnf", "dnf install -y %s && dnf clean all", Program::fedora),
            new Installer("microdnf", "microdnf install -y %s && microdnf clean all", Program::fedora),
            new Installer("pacman", "pacman -Sy --noconfirm --needed %s", Program::arch));

    private final LayerView view;

    /// @param layers root directories of the image's layers, top first
    ImageTools(List<Path> layers) {
        this.view = new LayerView(layers);
    }

    List<String> missing() throws IOException {
        return absent().stream().map(Program::name).toList();
    }

    private List<Program> absent() throws IOException {
        var absent = new ArrayList<Program>();
        for (var program : PROGRAMS) {
            if (!has(program.name())) {
                absent.add(program);
            }
        }
        return absent;
    }

    /// A script for the image's own package manager; nothing when it has none, or no shell to run one.
    Optional<String> install() throws IOException {
        for (var installer : INSTALLERS) {
            if (has("sh") && has(installer.name())) {
                String packages = absent().stream().map(installer.packages()).collect(Collectors.joining(" "));
                return Optional.of(installer.script().formatted(packages));
            }
        }
        return Optional.empty();
    }

    /// The missing programs, as a sentence for the log.
    String complaint() throws IOException {
        return has("sh")
                ? "The image lacks %s, which clients of sandboxes call; install them in the image"
                        .formatted(String.join(", ", missing()))
                : "The image has no shell: sandboxes of it run programs by their paths only, and no RUN works";
    }

    private boolean has(String program) throws IOException {
        for (String directory : DIRECTORIES) {
            if (view.find(directory + "/" + program).place() != null) {
                return true;
            }
        }
        return false;
    }
}
