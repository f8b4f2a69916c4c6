package dev.cay.cli;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

@Command(
        name = "mcp",
        mixinStandardHelpOptions = true,
        description = "Look up MCP servers. Needs no root and no running Cay.",
        subcommands = McpCatalogCommand.class,
        footer = {"", "Examples:", "  ./cay mcp catalog search jira", "  ./cay mcp catalog show notion"})
final class McpCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        if (spec != null) {
            CommandLine.usage(spec.commandLine(), System.out);
        }
        return 0;
    }
}
