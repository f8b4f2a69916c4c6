#!/bin/sh
# What npm's scripts would do. Runs on the host; $1 is the tree of what is added.
set -eu
package=$1/usr/local/lib/node_modules/@anthropic-ai/claude-code

# The program itself is a package for each kind of CPU, and a script would put it here.
for program in "$package"/node_modules/@anthropic-ai/claude-code-linux-*/claude; do
    case $program in *-musl/claude) continue ;; esac
    ln -f "$program" "$package/bin/claude.exe"
    chmod 0755 "$package/bin/claude.exe"
done
test -x "$package/bin/claude.exe"
