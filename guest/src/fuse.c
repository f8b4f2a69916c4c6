/* Mounts and unmounts FUSE for a sandbox, which lacks the permission. Runs on the host, for the node, which has checked
 * the options.
 *
 * The file system belongs to the sandbox's user namespace. So the kernel keeps every process of the host out of it,
 * also root's: a server that does not answer can block none of them. For the same reason this program checks paths
 * before it enters that namespace. */
#include "cay.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* Numbers of system calls, which the C library of older distributions lacks. The same on every CPU. */
#define NR_move_mount 429
#define NR_fsopen 430
#define NR_fsconfig 431
#define NR_fsmount 432
#define NR_openat2 437
#define EMPTY_PATHS (4u | 0x40u)
#define SET_FLAG 0u
#define SET_STRING 1u
#define CREATE 6u
#define IDS 65536ul
#define MAX_OPTIONS 32
#define DEVICE "/dev/fuse"

struct fuse_plan {
    const char *pid, *name, *path, *attributes, *owner;
    const char *options[MAX_OPTIONS];
    int option_count, lazy;
    unsigned long base, user;
};

static void parse(int argc, char **argv, struct fuse_plan *plan)
{
    for (int i = 0; i + 1 < argc; i += 2) {
        const char *flag = argv[i], *value = argv[i + 1];
        if (!strcmp(flag, "--pid") && parse_number(value, flag) > 1)
            plan->pid = value;
        else if (!strcmp(flag, "--uid-base"))
            plan->base = parse_number(value, flag);
        else if (!strcmp(flag, "--name") && strlen(value) < sizeof((struct sockaddr_un *)0)->sun_path)
            plan->name = value;
        else if (!strcmp(flag, "--path"))
            plan->path = value;
        else if (!strcmp(flag, "--attributes"))
            plan->attributes = value;
        else if (!strcmp(flag, "--owner"))
            plan->owner = value;
        else if (!strcmp(flag, "--user"))
            plan->user = parse_number(value, flag);
        else if (!strcmp(flag, "--lazy"))
            plan->lazy = !strcmp(value, "yes");
        else if (!strcmp(flag, "--option") && plan->option_count < MAX_OPTIONS)
            plan->options[plan->option_count++] = value;
        else
            refuse("fuse: wrong argument %s", flag);
    }
    if (argc % 2 || !plan->pid || !plan->base || !plan->name || !plan->path || plan->path[0] != '/')
        refuse("usage: cay-guest fuse mount|unmount --pid PID --uid-base N --name ADDRESS --user UID --path PATH "
               "[--attributes LETTERS] [--option NAME[=VALUE]]... [--owner UID --lazy yes|no]");
}

static int open_of(const struct fuse_plan *plan, const char *what, int flags)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/%s", plan->pid, what);
    int fd = open(path, flags | O_CLOEXEC);
    if (fd < 0)
        die("fuse: open %s", path);
    return fd;
}

/* Connects to the requesting program inside, without blocking. */
static int connect_to_asker(const struct fuse_plan *plan)
{
    if (setns(open_of(plan, "ns/net", O_RDONLY), CLONE_NEWNET))
        die("fuse: enter the sandbox's network");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(plan->name);
    memcpy(address.sun_path + 1, plan->name, length);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)))
        die("the program that asks does not listen");
    return fd;
}

/* The user who listens at the other end, by the kernel, with the sandbox's id. */
static struct ucred asker(int connection, const struct fuse_plan *plan)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length))
        die("fuse: ask who asks");
    if (peer.uid < plan->base || peer.uid - plan->base >= IDS || peer.gid < plan->base || peer.gid - plan->base >= IDS)
        refuse("the program that asks is not of this sandbox");
    if (peer.uid != plan->user)
        refuse("the request is of another user than the program that it names");
    peer.uid -= (uid_t)plan->base;
    peer.gid -= (gid_t)plan->base;
    return peer;
}

/* Opens a directory of the sandbox's own disk with O_PATH: through no link, and into no mount. */
static int name_directory(int root, const char *path, const char *shown)
{
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV};
    while (*path == '/')
        path++;
    int fd = (int)syscall(NR_openat2, root, *path ? path : ".", &how, sizeof how);
    if (fd < 0 && errno == EXDEV)
        refuse("%s is not on the sandbox's own disk: something is mounted there or above it", shown);
    if (fd < 0 && errno == ELOOP)
        refuse("%s leads through a symbolic link", shown);
    if (fd < 0)
        die("%s", shown);
    return fd;
}

static void require_own(int directory, const struct ucred *who, const struct fuse_plan *plan)
{
    struct stat status;
    if (fstat(directory, &status))
        die("%s", plan->path);
    if (status.st_uid < plan->base || status.st_uid - plan->base >= IDS)
        refuse("%s belongs to nobody in this sandbox", plan->path);
    if (who->uid && status.st_uid - plan->base != who->uid)
        refuse("%s belongs to another user: mount it in a directory of your own", plan->path);
}

static void become_root_inside(int user, int mounts)
{
    if (setns(mounts, CLONE_NEWNS))
        die("fuse: enter the sandbox");
    if (setresgid(0, 0, 0) || setresuid(0, 0, 0))
        die("fuse: become root inside");
    close(user);
    close(mounts);
}

static void set(int context, const char *name, const char *value)
{
    if (syscall(NR_fsconfig, context, value ? SET_STRING : SET_FLAG, name, value, 0))
        die("option %s", name);
}

static void set_number(int context, const char *name, unsigned long value)
{
    char text[24];
    snprintf(text, sizeof text, "%lu", value);
    set(context, name, text);
}

/* Always nosuid and nodev, whatever options were requested. */
static unsigned int attributes_of(const char *letters)
{
    unsigned int attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    for (; letters && *letters; letters++) {
        if (*letters == 'r')
            attributes |= MOUNT_ATTR_RDONLY;
        else if (*letters == 'x')
            attributes |= MOUNT_ATTR_NOEXEC;
        else if (*letters == 'a')
            attributes |= MOUNT_ATTR_NOATIME;
        else
            refuse("fuse: wrong attribute %c", *letters);
    }
    return attributes;
}

static int make_mount(int device, const struct ucred *who, const struct fuse_plan *plan)
{
    int context = (int)syscall(NR_fsopen, "fuse", 1u);
    if (context < 0)
        die("fuse: fsopen");
    set_number(context, "fd", (unsigned long)device);
    set(context, "rootmode", "40000");
    set_number(context, "user_id", who->uid);
    set_number(context, "group_id", who->gid);
    for (int i = 0; i < plan->option_count; i++) {
        char option[1024];
        snprintf(option, sizeof option, "%s", plan->options[i]);
        char *value = strchr(option, '=');
        if (value)
            *value++ = 0;
        set(context, option, value);
    }
    if (syscall(NR_fsconfig, context, CREATE, NULL, NULL, 0))
        die("fuse: make the file system");
    int mount = (int)syscall(NR_fsmount, context, 1u, attributes_of(plan->attributes));
    if (mount < 0)
        die("fuse: fsmount");
    close(context);
    return mount;
}

static void lend(int connection, int descriptor)
{
    if (send_descriptor(connection, descriptor, MSG_DONTWAIT))
        die("the program that asks does not take the connection");
}

static int mount_for(const struct fuse_plan *plan)
{
    int root = open_of(plan, "root", O_PATH | O_DIRECTORY);
    int user = open_of(plan, "ns/user", O_RDONLY), mounts = open_of(plan, "ns/mnt", O_RDONLY);
    int connection = connect_to_asker(plan);
    struct ucred who = asker(connection, plan);
    int place = name_directory(root, plan->path, plan->path);
    require_own(place, &who, plan);
    if (setns(user, CLONE_NEWUSER))
        die("fuse: enter the sandbox");
    /* As the host's root, who has the permission, in the sandbox's user namespace, as the kernel requires. */
    int device = open(DEVICE, O_RDWR | O_CLOEXEC);
    if (device < 0)
        die("this machine has no FUSE: open " DEVICE);
    become_root_inside(user, mounts);
    int mount = make_mount(device, &who, plan);
    /* If the mount fails after this, the descriptor is useless. */
    lend(connection, device);
    if (syscall(NR_move_mount, mount, "", place, "", EMPTY_PATHS))
        die("mount at %s", plan->path);
    return 0;
}

static int unmount_for(const struct fuse_plan *plan)
{
    if (!plan->owner)
        refuse("fuse: --owner is missing");
    int root = open_of(plan, "root", O_PATH | O_DIRECTORY);
    int user = open_of(plan, "ns/user", O_RDONLY), mounts = open_of(plan, "ns/mnt", O_RDONLY);
    struct ucred who = asker(connect_to_asker(plan), plan);
    if (who.uid && who.uid != parse_number(plan->owner, "--owner"))
        refuse("another user has mounted %s", plan->path);
    char parent[4096];
    snprintf(parent, sizeof parent, "%s", plan->path);
    char *slash = strrchr(parent, '/');
    char *name = slash + 1;
    *slash = 0;
    int above = name_directory(root, parent, plan->path);
    if (setns(user, CLONE_NEWUSER))
        die("fuse: enter the sandbox");
    become_root_inside(user, mounts);
    if (fchdir(above))
        die("%s", plan->path);
    if (!plan->lazy && umount2(name, UMOUNT_NOFOLLOW))
        die("%s", plan->path);
    /* Also aborts the connection, so that no process waits for the file system any more. */
    if (plan->lazy && umount2(name, MNT_FORCE | UMOUNT_NOFOLLOW) && umount2(name, MNT_DETACH | UMOUNT_NOFOLLOW))
        die("%s", plan->path);
    return 0;
}

int run_fuse(int argc, char **argv)
{
    struct fuse_plan plan = {0};
    const char *what = argc ? argv[0] : "";
    parse(argc - 1, argv + 1, &plan);
    return !strcmp(what, "mount") ? mount_for(&plan) : unmount_for(&plan);
}
