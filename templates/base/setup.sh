#!/bin/sh
# Makes a fresh Debian tree into the base template. Runs on the host; $1 is the tree.
set -eu
root=$1

chroot "$root" useradd --uid 1000 --user-group --create-home --shell /bin/bash user
chroot "$root" passwd --quiet --lock root
printf 'user ALL=(ALL:ALL) NOPASSWD: ALL\n' > "$root/etc/sudoers.d/user"
chmod 0440 "$root/etc/sudoers.d/user"

# The machine's own name and *.localhost before any question leaves the sandbox.
sed -i 's/^hosts:.*/hosts: files myhostname dns/' "$root/etc/nsswitch.conf"
printf 'LANG=C.UTF-8\n' > "$root/etc/default/locale"
printf '127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n' > "$root/etc/hosts"
printf 'sandbox\n' > "$root/etc/hostname"
: > "$root/etc/machine-id"

# Every command runs in a login shell, which need not start a program to learn who it is.
sed -i 's/"$(id -u)"/"${EUID:-$(id -u)}"/' "$root/etc/profile"

# Packages may be installed but there is no init to start their services.
printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d"
chmod 0755 "$root/usr/sbin/policy-rc.d"

# A sandbox is thrown away: pip may write where it likes, and so may the user under /usr/local.
printf '[global]\nbreak-system-packages = true\ndisable-pip-version-check = true\n' > "$root/etc/pip.conf"
chmod -R a+rwX "$root/usr/local"

# A mirror's password is the host's, not the sandbox's.
find "$root/etc/apt" -name '*.list' -o -name '*.sources' | while read -r sources; do
    sed -i 's#://[^/@ ]*@#://#' "$sources"
done
rm -f "$root/etc/resolv.conf" "$root/etc/apt/apt.conf.d/99mmdebstrap"
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*.bin "$root"/var/cache/apt/archives/*.deb \
    "$root"/var/cache/debconf/*-old "$root"/var/lib/dpkg/*-old "$root"/var/log/*.log "$root"/var/log/apt "$root"/tmp/*
