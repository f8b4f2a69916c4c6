package dev.cay.dockerfile;

import dev.cay.dockerfile.Instruction.Add;
import dev.cay.dockerfile.Instruction.Arg;
import dev.cay.dockerfile.Instruction.Assignment;
import dev.cay.dockerfile.Instruction.Cmd;
import dev.cay.dockerfile.Instruction.Copy;
import dev.cay.dockerfile.Instruction.Entrypoint;
import dev.cay.dockerfile.Instruction.Env;
import dev.cay.dockerfile.Instruction.Expose;
import dev.cay.dockerfile.Instruction.Healthcheck;
import dev.cay.dockerfile.Instruction.InlineFile;
import dev.cay.dockerfile.Instruction.Label;
import dev.cay.dockerfile.Instruction.Maintainer;
import dev.cay.dockerfile.Instruction.Run;
import dev.cay.dockerfile.Instruction.Shell;
import dev.cay.dockerfile.Instruction.Source;
import dev.cay.dockerfile.Instruction.StopSignal;
import dev.cay.dockerfile.Instruction.Transfer;
import dev.cay.dockerfile.Instruction.User;
import dev.cay.dockerfile.Instruction.Volume;
import dev.cay.dockerfile.Instruction.Workdir;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Expands the operands of one instruction with the variables that it sees. Checks that need values are here.
final class Resolution {
    /// Linux has no longer ones.
    private static final int LONGEST_PATH = 4095;

    private static final Pattern PORT = Pattern.compile("(\\d{1,5})(?:-(\\d{1,5}))?(?:/(tcp|udp|sctp))?");
    private static final Pattern MODE =
            Pattern.compile("[0-7]{3,4}|[ugoa]*[-+=][rwxXst]*(,[ugoa]*[-+=][rwxXst]*){0,15}");
    private static final Pattern CHECKSUM = Pattern.compile("sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}");

    private final String file;
    private final Expansion expansion;
    private final StageState state;

    Resolution(String file, Expansion expansion, StageState state) {
        this.file = file;
        this.expansion = expansion;
        this.state = state;
    }

    /// The instruction with variables expanded. An ARG keeps its own defaults.
    Instruction of(Instruction instruction) {
        return switch (instruction) {
            case Run run -> run(run);
            case Copy copy -> new Copy(copy.at(), transfer(copy.transfer(), copy.at()), copy.from());
            case Add add -> add(add);
            case Env env -> new Env(env.at(), assignments(env.assignments()));
            case Label label -> new Label(label.at(), assignments(label.assignments()));
            case Arg arg -> new Arg(arg.at(), assignments(arg.assignments()));
            case Workdir workdir -> new Workdir(workdir.at(), workdir(workdir));
            case User user -> new User(user.at(), user(user));
            case Expose expose -> new Expose(expose.at(), ports(expose));
            case Volume volume -> new Volume(volume.at(), all(volume.paths(), volume.at()));
            case StopSignal signal -> new StopSignal(signal.at(), one(signal.signal(), signal.at()));
            case Cmd _, Entrypoint _, Shell _, Healthcheck _, Maintainer _ -> instruction;
        };
    }

    private String one(String word, Position at) {
        try {
            return expansion.word(word, state::value);
        } catch (Expansion.Failure e) {
            throw new DockerfileException(file, at, e.what(), e.fix());
        }
    }

    private @Nullable String orNull(@Nullable String word, Position at) {
        return word == null ? null : one(word, at);
    }

    private List<String> all(List<String> words, Position at) {
        return words.stream().map(word -> one(word, at)).toList();
    }

    private List<Assignment> assignments(List<Assignment> written) {
        var resolved = new ArrayList<Assignment>();
        for (var assignment : written) {
            String name = one(assignment.name(), assignment.at());
            if (name.isEmpty() || name.indexOf('=') >= 0) {
                throw problem(
                        assignment.at(),
                        "%s expands to no name".formatted(Excerpt.of(assignment.name())),
                        "set the variable in it");
            }
            resolved.add(new Assignment(assignment.at(), name, orNull(assignment.value(), assignment.at())));
        }
        return resolved;
    }

    private Run run(Run run) {
        var mounts = run.mounts().stream().map(mount -> mount(mount, run.at())).toList();
        return new Run(run.at(), run.command(), mounts, run.network());
    }

    private Mount mount(Mount mount, Position at) {
        return switch (mount) {
            case Mount.Bind(String target, String source, var from, boolean writable) ->
                new Mount.Bind(inWorkdir(one(target, at), at), one(source, at), from, writable);
            case Mount.Cache cache ->
                new Mount.Cache(
                        inWorkdir(one(cache.target(), at), at),
                        one(cache.id(), at),
                        cache.sharing(),
                        cache.from(),
                        one(cache.source(), at),
                        cache.readOnly(),
                        cache.owner());
            case Mount.Secret(String id, String target, var variable, boolean required, var owner) ->
                new Mount.Secret(
                        one(id, at),
                        target.isEmpty() ? "" : inWorkdir(one(target, at), at),
                        orNull(variable, at),
                        required,
                        owner);
            case Mount.Tmpfs(String target, long size) -> new Mount.Tmpfs(inWorkdir(one(target, at), at), size);
        };
    }

    /// The destination keeps its `/` at the end, which says that it is a directory.
    private Transfer transfer(Transfer written, Position at) {
        var sources = written.sources().stream()
                .map(source -> new Source(source.at(), one(source.text(), source.at())))
                .toList();
        for (var source : sources) {
            if (source.text().isEmpty()) {
                throw problem(source.at(), "a source expands to nothing", "set the variable in it");
            }
        }
        String destination = one(written.destination(), at);
        if (destination.isEmpty()) {
            throw problem(at, "the destination expands to nothing", "set the variable in it");
        }
        boolean directory = destination.endsWith("/") || destination.endsWith("/.") || destination.equals(".");
        String absolute = inWorkdir(destination, at);
        String mode = orNull(written.mode(), at);
        if (mode != null && !MODE.matcher(mode).matches()) {
            throw problem(at, "--chmod=%s is no mode".formatted(Excerpt.of(mode)), "write --chmod=755");
        }
        return new Transfer(
                sources,
                written.files().stream().map(inline -> inline(inline, at)).toList(),
                directory && !absolute.equals("/") ? absolute + "/" : absolute,
                orNull(written.owner(), at),
                mode,
                all(written.excludes(), at),
                written.link(),
                written.parents());
    }

    private InlineFile inline(InlineFile inline, Position at) {
        try {
            String content = inline.expand() ? expansion.content(inline.content(), state::value) : inline.content();
            return new InlineFile(inline.name(), content, false);
        } catch (Expansion.Failure e) {
            throw problem(at, e.what(), e.fix());
        }
    }

    private Add add(Add add) {
        var transfer = transfer(add.transfer(), add.at());
        for (var source : transfer.sources()) {
            if (source.isGit()) {
                throw problem(
                        source.at(),
                        "ADD of a Git repository is not supported",
                        "use RUN git clone, or add the archive that the host offers by https");
            }
        }
        String checksum = orNull(add.checksum(), add.at());
        if (checksum != null) {
            boolean oneUrl = transfer.sources().size() == 1
                    && transfer.sources().getFirst().isUrl()
                    && transfer.files().isEmpty();
            if (!oneUrl || !CHECKSUM.matcher(checksum).matches()) {
                throw problem(
                        add.at(),
                        "--checksum needs one URL and a value like sha256:…",
                        "write ADD --checksum=sha256:HEX URL destination");
            }
        }
        return new Add(add.at(), transfer, checksum, add.unpack());
    }

    private String workdir(Workdir workdir) {
        String path = one(workdir.path(), workdir.at());
        if (path.isEmpty()) {
            throw problem(workdir.at(), "WORKDIR expands to nothing", "set the variable in it");
        }
        return inWorkdir(path, workdir.at());
    }

    /// Absolute, without `.` and `..`.
    private String inWorkdir(String path, Position at) {
        String absolute = Paths.absolute(path.startsWith("/") ? path : state.workdir() + "/" + path);
        if (absolute.length() > LONGEST_PATH) {
            throw problem(at, "a path has more than 4,095 characters", "use a shorter path");
        }
        return absolute;
    }

    private String user(User user) {
        String name = one(user.user(), user.at());
        if (name.isEmpty()) {
            throw problem(user.at(), "USER expands to nothing", "set the variable in it");
        }
        return name;
    }

    private List<String> ports(Expose expose) {
        var ports = new ArrayList<String>();
        for (String word : all(expose.ports(), expose.at())) {
            for (var port : Words.plain(word, 0)) {
                ports.add(port(port.text(), expose.at()));
            }
        }
        return ports;
    }

    private String port(String text, Position at) {
        var match = PORT.matcher(text.toLowerCase(Locale.ROOT));
        boolean valid = match.matches();
        int first = valid ? Integer.parseInt(match.group(1)) : 0;
        int last = valid && match.group(2) != null ? Integer.parseInt(match.group(2)) : first;
        if (!valid || first < 1 || last > 65_535 || last < first) {
            throw problem(at, "%s is no port".formatted(Excerpt.of(text)), "write EXPOSE 8080 or EXPOSE 53/udp");
        }
        String protocol = match.group(3) == null ? "tcp" : match.group(3);
        return (last == first ? "" + first : first + "-" + last) + "/" + protocol;
    }

    private DockerfileException problem(Position at, String what, String fix) {
        return new DockerfileException(file, at, what, fix);
    }
}
