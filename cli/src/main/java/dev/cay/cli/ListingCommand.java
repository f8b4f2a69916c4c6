package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import java.util.concurrent.Callable;
import java.util.function.ToIntFunction;
import picocli.CommandLine.Mixin;

/// A command that lists what there is of one kind: the subcommand `list`, and the command above it when it is given
/// alone.
abstract class ListingCommand implements Callable<Integer> {
    private final ToIntFunction<ConfigOptions> listing;

    @Mixin
    private ConfigOptions options = new ConfigOptions();

    /// @param listing prints the list and returns the exit code
    ListingCommand(ToIntFunction<ConfigOptions> listing) {
        this.listing = listing;
    }

    @Override
    public Integer call() {
        return listing.applyAsInt(options);
    }
}
