#!/bin/sh
# Removes what nobody asked for. Runs on the host after the setups of base and code-interpreter-lite; $1 is the tree.
set -eu

# gensim can read from every cloud, and brings the clients for them; this one takes more than a gigabyte.
rm -rf "$1"/usr/lib/python3/dist-packages/azure "$1"/usr/lib/python3/dist-packages/azure_*
