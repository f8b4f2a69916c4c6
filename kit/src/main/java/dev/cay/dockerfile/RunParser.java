package dev.cay.dockerfile;

import dev.cay.dockerfile.LogicalLine.Heredoc;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// Reads RUN.
final class RunParser {
    private RunParser() {}

    static Instruction parse(Operands operands) {
        operands.allow(Set.of("network", "security", "device"), Set.of("mount"));
        var mounts = new ArrayList<Mount>();
        for (var flag : operands.flags("mount")) {
            mounts.add(MountParser.parse(operands, flag));
        }
        if (!operands.flags("device").isEmpty()) {
            throw operands.problem(
                    operands.offsetOf("device"),
                    "--device is not supported: sandboxes have no devices of the host",
                    "leave the flag out");
        }
        refuseInsecure(operands);
        return new Instruction.Run(operands.at(), command(operands), mounts, network(operands));
    }

    private static void refuseInsecure(Operands operands) {
        String security = operands.value("security");
        if (security != null && !security.equals("sandbox")) {
            throw operands.problem(
                    operands.offsetOf("security"),
                    "--security=%s is not supported: every command runs in a sandbox".formatted(Excerpt.of(security)),
                    "leave the flag out");
        }
    }

    private static boolean network(Operands operands) {
        String network = operands.value("network");
        return switch (network == null ? "default" : network) {
            case "default" -> true;
            case "none" -> false;
            default ->
                throw operands.problem(
                        operands.offsetOf("network"),
                        "--network=%s is not supported: sandboxes have a network of their own"
                                .formatted(Excerpt.of(String.valueOf(network))),
                        "leave the flag out, or write --network=none");
        };
    }

    private static CommandLine command(Operands operands) {
        String text = operands.text();
        if (text.isEmpty()) {
            throw operands.problem(0, "RUN has no command", "write RUN command");
        }
        var json = operands.json();
        if (json.isPresent()) {
            if (json.get().isEmpty()) {
                throw operands.problem(operands.start(), "RUN has no command", "write RUN [\"program\", \"argument\"]");
            }
            return new CommandLine.Exec(json.get());
        }
        var heredocs = operands.heredocs();
        if (heredocs.isEmpty()) {
            return new CommandLine.Shell(text);
        }
        boolean alone = heredocs.size() == 1 && operands.words().size() == 1;
        return alone ? script(heredocs.getFirst()) : withHeredocs(text, heredocs);
    }

    private static CommandLine script(Heredoc heredoc) {
        String content = heredoc.content();
        return content.startsWith("#!") ? new CommandLine.Script(content) : new CommandLine.Shell(content);
    }

    /// The shell finds the bodies where it expects them: behind the line, in order.
    private static CommandLine withHeredocs(String text, List<Heredoc> heredocs) {
        var whole = new StringBuilder(text).append('\n');
        for (var heredoc : heredocs) {
            whole.append(heredoc.body()).append(heredoc.name()).append('\n');
        }
        return new CommandLine.Shell(whole.toString());
    }
}
