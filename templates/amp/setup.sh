#!/bin/sh
# What npm's scripts would do. Runs on the host; $1 is the tree of what is added.
set -eu
modules=$1/usr/local/lib/node_modules/@sourcegraph/amp/node_modules/@ampcode

# The program itself is a package for each kind of CPU.
program=
for each in "$modules"/cli-linux-*/amp; do
    case $each in *-musl/amp) continue ;; esac
    [ -x "$each" ] && program=$each
done
[ -n "$program" ] || { echo "the npm registry has no amp for this kind of CPU" >&2; exit 1; }
ln -f "$program" "$modules/cli/bin/amp.exe"
chmod 0755 "$modules/cli/bin/amp.exe"
