#!/bin/sh
# What npm's scripts would do. Runs on the host; $1 is the tree of what is added.
set -eu
package=$1/usr/local/lib/node_modules/opencode-ai

# The program itself is a package for each kind of CPU. Of two for the same kind, the one for older CPUs runs on all.
program=
for each in "$package"/node_modules/opencode-linux-*/bin/opencode; do
    case $each in *-musl/bin/opencode) continue ;; esac
    [ -x "$each" ] && program=$each
    case $each in *-baseline/bin/opencode) break ;; esac
done
[ -n "$program" ] || { echo "the npm registry has no opencode for this kind of CPU" >&2; exit 1; }
mv -f "$program" "$package/bin/opencode.exe"
chmod 0755 "$package/bin/opencode.exe"
rm -rf "$package"/node_modules/opencode-linux-*
