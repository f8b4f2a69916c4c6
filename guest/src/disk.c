/* Subvolumes of btrfs: one small program per change instead of several big ones. */
#include "cay.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* How many subvolumes in a volume one run deletes. */
#define MOST_NESTED 1000

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

/* The number of the subvolume at `path`, which no program in a sandbox can change: its parent is the host's. */
static uint64_t number_of(const char *path)
{
    struct btrfs_ioctl_ino_lookup_args lookup = {.objectid = BTRFS_FIRST_FREE_OBJECTID};
    int disk = open_directory(path);
    if (ioctl(disk, BTRFS_IOC_INO_LOOKUP, &lookup))
        die("disk: look up %s", path);
    close(disk);
    return lookup.treeid;
}

/* Sets the limit through the parent directory: a copy begins with the limit of its source, and a full disk refuses even
 * this change through itself. */
static void limit(int parent, const char *path, const char *bytes)
{
    struct btrfs_ioctl_qgroup_limit_args arguments = {.qgroupid = number_of(path)};
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

/* A subvolume directly in the one with this number; 0 without one. */
static uint64_t find_nested(int parent, uint64_t number)
{
    struct btrfs_ioctl_search_args search = {0};
    search.key = (struct btrfs_ioctl_search_key){.tree_id = BTRFS_ROOT_TREE_OBJECTID,
                                                 .min_objectid = number,
                                                 .max_objectid = number,
                                                 .max_offset = UINT64_MAX,
                                                 .max_transid = UINT64_MAX,
                                                 .min_type = BTRFS_ROOT_REF_KEY,
                                                 .max_type = BTRFS_ROOT_REF_KEY,
                                                 .nr_items = 1};
    if (ioctl(parent, BTRFS_IOC_TREE_SEARCH, &search))
        die("disk: look for subvolumes in %lu", (unsigned long)number);
    struct btrfs_ioctl_search_header found;
    memcpy(&found, search.buf, sizeof found);
    return search.key.nr_items ? found.offset : 0;
}

/* Subvolumes may be read-only, and nothing in those can be deleted. It is opened by its number: the handle of its first
 * inode, of any generation. */
static void make_writable(int parent, uint64_t number)
{
    struct {
        uint64_t inode, subvolume;
        uint32_t generation;
    } __attribute__((packed)) first = {.inode = BTRFS_FIRST_FREE_OBJECTID, .subvolume = number};
    union {
        struct file_handle head;
        char room[sizeof(struct file_handle) + sizeof first];
    } handle = {.head = {.handle_bytes = sizeof first, .handle_type = 0x4d}};
    memcpy(handle.head.f_handle, &first, sizeof first);
    uint64_t flags = 0;
    int nested = open_by_handle_at(parent, &handle.head, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (nested < 0 || ioctl(nested, BTRFS_IOC_SUBVOL_SETFLAGS, &flags))
        die("disk: make subvolume %lu writable", (unsigned long)number);
    close(nested);
}

static int destroy_number(int parent, uint64_t number)
{
    struct btrfs_ioctl_vol_args_v2 arguments = {.flags = BTRFS_SUBVOL_SPEC_BY_ID, .subvolid = number};
    return ioctl(parent, BTRFS_IOC_SNAP_DESTROY_V2, &arguments);
}

/* Deletes the subvolumes in a volume, which a sandbox made there before that was refused. Each is known by its number
 * alone, so neither its name nor what lies on the way to it counts. The innermost is deleted first.
 *
 * It stops after so many with an error, and what it deleted stays deleted: the next try goes on from there. */
static void destroy_nested(int parent, const char *path)
{
    uint64_t disk = number_of(path);
    for (int deleted = 0; deleted < MOST_NESTED; deleted++) {
        uint64_t outer = disk, inner = find_nested(parent, disk);
        if (!inner)
            return;
        for (uint64_t next; (next = find_nested(parent, inner)); inner = next)
            outer = inner;
        if (!destroy_number(parent, inner))
            continue;
        if (errno != EROFS)
            die("disk: delete subvolume %lu in %s", (unsigned long)inner, path);
        make_writable(parent, outer);
        if (destroy_number(parent, inner))
            die("disk: delete subvolume %lu in %s", (unsigned long)inner, path);
    }
    if (find_nested(parent, disk))
        refuse("disk: %s has more than %d subvolumes in it: %d are deleted, try again", path, MOST_NESTED, MOST_NESTED);
}

static int destroy(const char *path)
{
    const char *name;
    int parent = open_parent(path, &name);
    struct btrfs_ioctl_vol_args arguments = {0};
    strcpy(arguments.name, name);
    if (!ioctl(parent, BTRFS_IOC_SNAP_DESTROY, &arguments) || errno == ENOENT)
        return 0;
    if (errno == ENOTEMPTY) {
        destroy_nested(parent, path);
        if (!ioctl(parent, BTRFS_IOC_SNAP_DESTROY, &arguments))
            return 0;
    }
    die("disk: delete %s", path);
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
