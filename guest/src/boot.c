/* Gives a sandbox that was just started a boot id of its own, because the host's would stay the same when the sandbox
 * is started again.
 *
 * The id is in a file of the sandbox's own, so that a checkpoint contains it. Root inside can neither change it, as it
 * is mounted read-only, nor remove what is a mount point. */
#include "cay.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define FILE_INSIDE "/run/.cay-boot-id"
#define SHOWN_AT "/proc/sys/kernel/random/boot_id"

static int open_namespace(const char *pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/ns/%s", pid, name);
    int namespace = open(path, O_RDONLY | O_CLOEXEC);
    if (namespace < 0)
        die("boot: open %s", path);
    return namespace;
}

static void show(const char *at)
{
    unsigned long flags = MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;
    if (mount(FILE_INSIDE, at, NULL, MS_BIND, NULL) || mount(NULL, at, NULL, flags | MS_REMOUNT, NULL))
        die("boot: mount %s", at);
}

int run_boot(int argc, char **argv)
{
    if (argc != 2 || parse_number(argv[0], "boot") <= 1)
        refuse("usage: cay-guest boot PID ID");
    int user = open_namespace(argv[0], "user");
    int mounts = open_namespace(argv[0], "mnt");
    if (setns(user, CLONE_NEWUSER) || setns(mounts, CLONE_NEWNS))
        die("boot: enter the sandbox");
    if (setresgid(0, 0, 0) || setresuid(0, 0, 0))
        die("boot: become root inside");
    int file = open(FILE_INSIDE, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
    if (file < 0 || write(file, argv[1], strlen(argv[1])) < 0 || write(file, "\n", 1) != 1)
        die("boot: write %s", FILE_INSIDE);
    close(file);
    show(SHOWN_AT);
    show(FILE_INSIDE);
    return 0;
}
