package dev.cay.dockerfile;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One instruction of a stage. {@link Dockerfile#parse} makes them with variables as they are written;
/// {@link Evaluation} makes the same records with variables expanded.
public sealed interface Instruction {
    /// Where the instruction begins.
    Position at();

    record Run(Position at, CommandLine command, List<Mount> mounts, boolean network) implements Instruction {
        public Run {
            mounts = List.copyOf(mounts);
        }
    }

    /// @param from a stage, a stage's number or an image; null for the build context
    record Copy(Position at, Transfer transfer, @Nullable String from) implements Instruction {}

    /// Like COPY from the context, but local archives are unpacked and sources may be URLs.
    ///
    /// @param checksum of the one remote source, like `sha256:…`
    /// @param unpack   null for the default: local archives are unpacked, remote ones are not
    record Add(
            Position at,
            Transfer transfer,
            @Nullable String checksum,
            @Nullable Boolean unpack) implements Instruction {}

    record Env(Position at, List<Assignment> assignments) implements Instruction {
        public Env {
            assignments = List.copyOf(assignments);
        }
    }

    /// The value of an assignment is null when there is no default.
    record Arg(Position at, List<Assignment> assignments) implements Instruction {
        public Arg {
            assignments = List.copyOf(assignments);
        }
    }

    record Label(Position at, List<Assignment> assignments) implements Instruction {
        public Label {
            assignments = List.copyOf(assignments);
        }
    }

    record Workdir(Position at, String path) implements Instruction {}

    record User(Position at, String user) implements Instruction {}

    record Cmd(Position at, CommandLine command) implements Instruction {}

    record Entrypoint(Position at, CommandLine command) implements Instruction {}

    /// As parsed, words with variables. Evaluated, the words are ports like `80/tcp` or `8000-8010/udp`.
    record Expose(Position at, List<String> ports) implements Instruction {
        public Expose {
            ports = List.copyOf(ports);
        }
    }

    record Shell(Position at, List<String> arguments) implements Instruction {
        public Shell {
            arguments = List.copyOf(arguments);
        }
    }

    /// @param command null for NONE: a check of the base image does not count
    record Healthcheck(Position at, @Nullable CommandLine command, Timing timing) implements Instruction {}

    record Volume(Position at, List<String> paths) implements Instruction {
        public Volume {
            paths = List.copyOf(paths);
        }
    }

    record StopSignal(Position at, String signal) implements Instruction {}

    record Maintainer(Position at, String name) implements Instruction {}

    /// A name and the value that it gets.
    record Assignment(Position at, String name, @Nullable String value) {}

    /// The common part of COPY and ADD.
    ///
    /// @param files    the heredocs among the sources
    /// @param excludes patterns of files that are left out, relative to each source
    /// @param link     whether the files are a layer that does not depend on earlier ones
    /// @param parents  whether the directories of a source are made below the destination
    record Transfer(
            List<Source> sources,
            List<InlineFile> files,
            String destination,
            @Nullable String owner,
            @Nullable String mode,
            List<String> excludes,
            boolean link,
            boolean parents) {
        public Transfer {
            sources = List.copyOf(sources);
            files = List.copyOf(files);
            excludes = List.copyOf(excludes);
        }
    }

    /// A path, a pattern of paths, or for ADD a URL.
    record Source(Position at, String text) {
        public boolean isUrl() {
            return text.startsWith("http://") || text.startsWith("https://");
        }

        boolean isGit() {
            String plain = text.contains("#") ? text.substring(0, text.indexOf('#')) : text;
            return plain.startsWith("git@")
                    || plain.startsWith("git://")
                    || plain.startsWith("ssh://")
                    || (isUrl() && plain.endsWith(".git"));
        }
    }

    /// A file whose content is in the Dockerfile.
    ///
    /// @param expand whether variables in the content are expanded; false once they are
    record InlineFile(String name, String content, boolean expand) {}

    /// The times of a health check. Null means Docker's default.
    record Timing(
            @Nullable Duration interval,
            @Nullable Duration timeout,
            @Nullable Duration startPeriod,
            @Nullable Duration startInterval,
            @Nullable Integer retries) {
        static final Timing DEFAULT = new Timing(null, null, null, null, null);
    }
}
