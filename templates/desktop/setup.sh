#!/bin/sh
# Makes the tree of base into a desktop. Runs on the host after the setup of base; $1 is the tree.
# Clients start the X server and Xfce themselves, so nothing is started here.
set -eu
root=$1

# Where clients look for noVNC.
ln -s /usr/share/novnc "$root/opt/noVNC"

# The panel asks at its first start what it should look like, and a window that asks covers the screen.
settings=$root/home/user/.config/xfce4/xfconf/xfce-perchannel-xml
mkdir -p "$settings"
cp "$root/etc/xdg/xfce4/panel/default.xml" "$settings/xfce4-panel.xml"
chroot "$root" chown -R user:user /home/user/.config

chroot "$root" fc-cache -s
rm -rf "$root"/tmp/* "$root"/var/log/*.log
