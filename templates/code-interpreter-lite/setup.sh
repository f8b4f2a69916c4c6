#!/bin/sh
# What is looked up at the first plot is looked up now. Runs on the host after the setup of base; $1 is the tree.
set -eu
root=$1

# Cells run as root, commands as user: each has a cache of the fonts that matplotlib may draw with.
chroot "$root" env -i PATH=/usr/bin:/bin HOME=/root MPLBACKEND=agg python3 -c 'import matplotlib.font_manager'
if [ -d "$root/root/.cache/matplotlib" ]; then
    mkdir -p "$root/home/user/.cache"
    cp -r "$root/root/.cache/matplotlib" "$root/home/user/.cache/"
    chroot "$root" chown -R user:user /home/user/.cache
fi
if [ -x "$root/usr/bin/fc-cache" ]; then
    chroot "$root" fc-cache -s
fi
rm -rf "$root"/tmp/* "$root"/var/log/*.log
