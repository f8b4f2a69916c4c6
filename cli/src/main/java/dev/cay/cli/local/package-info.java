/// Facts about this machine that all commands use: the configuration, whether they are root, the running daemon and its
/// key. Does not know any command.
@NullMarked
package dev.cay.cli.local;

import org.jspecify.annotations.NullMarked;
