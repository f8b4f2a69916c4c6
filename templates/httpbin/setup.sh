#!/bin/sh
# Puts the server in place. Runs on the host; $1 is the tree of what is added, $2 has the recipe's files.
set -eu
mkdir -p "$1/opt/httpbin"
install -m 0644 "$2/server.mjs" "$1/opt/httpbin/server.mjs"
