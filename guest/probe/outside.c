/* Attempts to see files of the host: by paths, by climbing, by what was left open. */
#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int reads_canary(int directory, const char *path)
{
    char text[128] = "";
    int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    return length > 0 && *known("secret") && strstr(text, known("secret"));
}

static void need_canary(void)
{
    if (!*known("canary") || !*known("secret"))
        unclear("no canary= or secret=");
}

static void see_outside(void)
{
    static const char *const roots[] = {"", "/proc/1/root", "/proc/self/root", "/proc/1/cwd", "/proc/self/cwd",
                                        "/proc/1/root/../../..", "/proc/1/cwd/../../../../..", "/proc/1/task/1/root"};
    need_canary();
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s%s", roots[i], known("canary"));
        if (reads_canary(AT_FDCWD, path))
            succeeded("%s was read", path);
    }
    refused("no way leads to %s", known("canary"));
}

static void climb_out(void)
{
    need_canary();
    if (chroot(scratch()))
        refused("chroot: %s", strerror(errno));
    for (int i = 0; i < 64; i++)
        if (chdir(".."))
            break;
    const char *relative = known("canary") + 1;
    if (reads_canary(AT_FDCWD, relative))
        succeeded("%s was read from above the root", relative);
    refused("the root of the tree is the sandbox's own");
}

/* A descriptor of a directory or file that belongs to no mount of ours is a door. */
static int is_ours(dev_t device)
{
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    char line[1024];
    int found = 0;
    while (mounts && !found && fgets(line, sizeof line, mounts)) {
        unsigned major_number, minor_number;
        found = sscanf(line, "%*d %*d %u:%u", &major_number, &minor_number) == 2
            && device == makedev(major_number, minor_number);
    }
    if (mounts)
        fclose(mounts);
    return found;
}

static void check_descriptor(const char *path)
{
    struct stat status, root;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) || stat("/", &root)) {
        if (fd >= 0)
            close(fd);
        return;
    }
    char target[256] = "";
    if (readlink(path, target, sizeof target - 1) < 0)
        target[0] = 0;
    int tree = S_ISDIR(status.st_mode) || S_ISREG(status.st_mode) || S_ISBLK(status.st_mode);
    if (tree && target[0] == '/' && !strncmp(target, "/memfd:", 7))
        tree = 0;
    if (S_ISDIR(status.st_mode) && *known("canary")) {
        char up[700];
        snprintf(up, sizeof up, "../../../../../../../../../..%s", known("canary"));
        if (reads_canary(fd, *known("canary") ? up : ""))
            succeeded("%s (%s) leads outside", path, target);
    }
    if (tree && !is_ours(status.st_dev) && status.st_dev != root.st_dev)
        succeeded("%s is %s, a file of no mount of ours", path, target);
    close(fd);
}

static void inherited_descriptors(void)
{
    DIR *processes = opendir("/proc");
    int count = 0;
    for (struct dirent *process; processes && (process = readdir(processes));) {
        char directory[64];
        if (process->d_name[0] < '0' || process->d_name[0] > '9')
            continue;
        snprintf(directory, sizeof directory, "/proc/%.10s/fd", process->d_name);
        DIR *descriptors = opendir(directory);
        for (struct dirent *entry; descriptors && (entry = readdir(descriptors));) {
            char path[96];
            if (entry->d_name[0] == '.')
                continue;
            snprintf(path, sizeof path, "%s/%.10s", directory, entry->d_name);
            check_descriptor(path);
            count++;
        }
        if (descriptors)
            closedir(descriptors);
    }
    refused("%d descriptors, none leads outside", count);
}

static void set_user_of_outside(void)
{
    need_canary();
    if (!chmod(known("canary"), 04755))
        succeeded("%s was made setuid", known("canary"));
    refused("chmod %s: %s", known("canary"), strerror(errno));
}

const struct probe outside_probes[] = {
    {"host-files", see_outside},
    {"host-setuid", set_user_of_outside},
    {"chroot-climb", climb_out},
    {"descriptors", inherited_descriptors},
    {0},
};
