/* Subvolumes of btrfs: one small program per change instead of several big ones. */
#include "cay.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        die("disk: open %s", path);
    return fd;
}

/* Opens the parent directory of `path`, and returns the last name. */
static int open_parent(const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path || !slash[1] || strlen(slash + 1) > BTRFS_SUBVOL_NAME_MAX)
        refuse("disk: not a place for a disk: %s", path);
    char parent[4096];
    snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
    *name = slash + 1;
    return open_directory(parent);
}

/* Sets the limit through the parent directory: a copy begins with the limit of its source, and a full disk refuses even
 * this change through itself. */
static void limit(int parent, const char *path, const char *bytes)
{
    struct btrfs_ioctl_ino_lookup_args lookup = {.objectid = BTRFS_FIRST_FREE_OBJECTID};
    if (ioctl(open_directory(path), BTRFS_IOC_INO_LOOKUP, &lookup))
        die("disk: look up %s", path);
    struct btrfs_ioctl_qgroup_limit_args arguments = {.qgroupid = lookup.treeid};
    arguments.lim.flags = BTRFS_QGROUP_LIMIT_MAX_RFER;
    arguments.lim.max_rfer = parse_number(bytes, "limit");
    if (ioctl(parent, BTRFS_IOC_QGROUP_LIMIT, &arguments))
        die("disk: limit %s", path);
}

/* Makes an empty subvolume, for a tree that is unpacked there. */
static int create(const char *path, const char *bytes, int empty)
{
    const char *name;
    int parent = open_parent(path, &name);
    struct btrfs_ioctl_vol_args arguments = {0};
    strcpy(arguments.name, name);
    if (ioctl(parent, BTRFS_IOC_SUBVOL_CREATE, &arguments))
        die("disk: create %s", path);
    int disk = open_directory(path);
    umask(0);
    /* Other users must be able to pass, because the sandbox's root is an ordinary user of the host. */
    if (fchmod(disk, 0711))
        die("disk: open %s to others", path);
    if (!empty && (mkdirat(disk, "upper", 0755) || mkdirat(disk, "work", 0755)))
        die("disk: fill %s", path);
    limit(parent, path, bytes);
    return 0;
}

static int copy(const char *from, const char *to, const char *bytes)
{
    const char *name;
    int parent = open_parent(to, &name);
    struct btrfs_ioctl_vol_args_v2 arguments = {.fd = open_directory(from)};
    strcpy(arguments.name, name);
    if (ioctl(parent, BTRFS_IOC_SNAP_CREATE_V2, &arguments))
        die("disk: copy %s to %s", from, to);
    limit(parent, to, bytes);
    return 0;
}

static int destroy(const char *path)
{
    const char *name;
    int parent = open_parent(path, &name);
    struct btrfs_ioctl_vol_args arguments = {0};
    strcpy(arguments.name, name);
    if (ioctl(parent, BTRFS_IOC_SNAP_DESTROY, &arguments) && errno != ENOENT)
        die("disk: delete %s", path);
    return 0;
}

int run_disk(int argc, char **argv)
{
    const char *what = argc ? argv[0] : "";
    if (!strcmp(what, "create") && argc == 3)
        return create(argv[1], argv[2], 0);
    if (!strcmp(what, "empty") && argc == 3)
        return create(argv[1], argv[2], 1);
    if (!strcmp(what, "copy") && argc == 4)
        return copy(argv[1], argv[2], argv[3]);
    if (!strcmp(what, "delete") && argc == 2)
        return destroy(argv[1]);
    refuse("usage: cay-guest disk create DIR BYTES | empty DIR BYTES | copy FROM TO BYTES | delete DIR");
}
