/// What commands know of the machine they run on: its configuration, whether they are root, the daemon that runs and
/// the key for it. Knows no command.
@NullMarked
package dev.cay.cli.local;

import org.jspecify.annotations.NullMarked;
