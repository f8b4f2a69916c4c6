/// The `cay` command. Start with {@link dev.cay.cli.Main}, which names every command; {@link dev.cay.cli.UpCommand}
/// runs the daemon in the foreground around {@link dev.cay.cli.CayDaemon}, the one place where server and node are
/// wired together. The other commands talk to a running daemon only through files in the run directory and signals.
@NullMarked
package dev.cay.cli;

import org.jspecify.annotations.NullMarked;
