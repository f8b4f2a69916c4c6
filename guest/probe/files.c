/* Attempts by files: devices, /proc, /sys, cgroups, the guest's program. */
#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#define GUEST "/run/.cay-guest"

/* --- devices --- */

static void open_new_device(mode_t kind, dev_t device)
{
    char path[128];
    snprintf(path, sizeof path, "%s/device", scratch());
    if (mknod(path, kind | 0600, device))
        refused("mknod: %s", strerror(errno));
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    int reason = errno;
    unlink(path);
    errno = reason;
    judge_strictly("open of a made device", fd);
}

static void make_block_device(void)
{
    unsigned major_number, minor_number;
    if (sscanf(known("disk"), "%u:%u", &major_number, &minor_number) != 2)
        unclear("no disk=");
    open_new_device(S_IFBLK, makedev(major_number, minor_number));
}

static void make_memory_device(void)
{
    open_new_device(S_IFCHR, makedev(1, 1));
}

static void make_log_device(void)
{
    open_new_device(S_IFCHR, makedev(1, 11));
}

static void open_devices(void)
{
    static const char *const names[] = {"mem", "kmem", "port", "kmsg", "kvm", "fuse", "vda", "sda", "nvme0n1", "loop0",
                                        "loop-control", "btrfs-control", "mapper/control", "net/tun", "vhost-net",
                                        "vhost-vsock", "vsock", "userfaultfd", "snapshot", "uinput", "nvram", "hpet",
                                        "cpu/0/msr", "dri/card0", "input/event0", "watchdog", "rtc0"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64];
        snprintf(path, sizeof path, "/dev/%s", names[i]);
        /* The watchdog would start to count. */
        int fd = open(path, strcmp(names[i], "watchdog") ? O_RDONLY | O_NONBLOCK : O_PATH);
        if (fd >= 0)
            succeeded("%s opens", path);
    }
    refused("none of %zu devices is there", sizeof names / sizeof *names);
}

/* --- /proc and /sys --- */

static void write_back(const char *path)
{
    char value[512];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, value, sizeof value);
    if (length < 0)
        refused("read %s: %s", path, strerror(errno));
    int out = open(path, O_WRONLY | O_CLOEXEC);
    judge_strictly(path, out < 0 ? -1 : write(out, value, (size_t)length));
}

static void core_pattern(void)
{
    write_back("/proc/sys/kernel/core_pattern");
}

static void modprobe_path(void)
{
    write_back("/proc/sys/kernel/modprobe");
}

static void memory_settings(void)
{
    write_back("/proc/sys/vm/overcommit_memory");
}

static void network_settings(void)
{
    write_back("/proc/sys/net/ipv4/ip_forward");
}

static void user_settings(void)
{
    write_back("/proc/sys/user/max_user_namespaces");
}

static void system_request(void)
{
    judge_strictly("open of /proc/sysrq-trigger", open("/proc/sysrq-trigger", O_WRONLY | O_CLOEXEC));
}

/* Opens for writing and writes nothing. */
static int find_writable(const char *directory, int depth, char *found, size_t room)
{
    DIR *entries = opendir(directory);
    if (!entries)
        return 0;
    int hit = 0;
    for (struct dirent *entry; !hit && (entry = readdir(entries));) {
        char path[512];
        if (entry->d_name[0] == '.'
            || snprintf(path, sizeof path, "%s/%s", directory, entry->d_name) >= (int)sizeof path)
            continue;
        if (entry->d_type == DT_DIR && depth > 0)
            hit = find_writable(path, depth - 1, found, room);
        else if (entry->d_type == DT_REG) {
            int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
            if (fd >= 0) {
                close(fd);
                snprintf(found, room, "%s", path);
                hit = 1;
            }
        }
    }
    closedir(entries);
    return hit;
}

static void system_files(void)
{
    char found[512];
    if (find_writable("/sys", 3, found, sizeof found))
        succeeded("%s opens for writing", found);
    refused("nothing below /sys opens for writing");
}

static int find_named(const char *directory, const char *name, int depth, char *found, size_t room)
{
    snprintf(found, room, "%s/%s", directory, name);
    int fd = open(found, O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        close(fd);
        return 1;
    }
    DIR *entries = depth > 0 ? opendir(directory) : NULL;
    int hit = 0;
    for (struct dirent *entry; entries && !hit && (entry = readdir(entries));) {
        char path[400];
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.'
            && snprintf(path, sizeof path, "%s/%s", directory, entry->d_name) < (int)sizeof path)
            hit = find_named(path, name, depth - 1, found, room);
    }
    if (entries)
        closedir(entries);
    return hit;
}

static void cgroup_file(const char *name)
{
    char found[512];
    if (find_named("/sys/fs/cgroup", name, 2, found, sizeof found))
        succeeded("%s opens for writing", found);
    refused("no %s opens for writing", name);
}

static void release_agent(void)
{
    cgroup_file("release_agent");
}

static void cgroup_members(void)
{
    cgroup_file("cgroup.procs");
}

static ssize_t read_some(const char *path, char *into, size_t room)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, into, room - 1);
    if (fd >= 0)
        close(fd);
    into[length > 0 ? length : 0] = 0;
    return length;
}

static void kernel_memory(void)
{
    char text[64];
    ssize_t length = read_some("/proc/kcore", text, sizeof text);
    if (length > 0)
        succeeded("/proc/kcore is readable");
    refused("/proc/kcore: %s", length < 0 ? strerror(errno) : "empty");
}

static void kernel_symbols(void)
{
    char text[64];
    ssize_t length = read_some("/proc/kallsyms", text, sizeof text);
    if (length > 16 && strspn(text, "0") < 16)
        succeeded("/proc/kallsyms shows %.16s", text);
    refused("/proc/kallsyms: %s", length < 0 ? strerror(errno) : length ? "zeros" : "empty");
}

static void host_facts(void)
{
    static const char *const files[] = {"/proc/cmdline", "/proc/keys", "/proc/modules", "/proc/partitions",
                                        "/proc/diskstats", "/proc/interrupts", "/proc/timer_list",
                                        "/proc/sched_debug", "/sys/kernel/notes", "/sys/module/kernel/parameters/panic",
                                        "/sys/kernel/security/lsm"};
    char text[64];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (read_some(files[i], text, sizeof text) > 0)
            succeeded("%s is readable", files[i]);
    refused("%zu files are empty", sizeof files / sizeof *files);
}

/* --- the guest's program --- */

static void overwrite_guest(void)
{
    judge_strictly("open of " GUEST " for writing", open(GUEST, O_WRONLY | O_CLOEXEC));
}

static void overwrite_first_program(void)
{
    judge_strictly("open of /proc/1/exe for writing", open("/proc/1/exe", O_WRONLY | O_CLOEXEC));
}

static void replace_guest(void)
{
    if (!rename(GUEST, "/run/.cay-guest-away")) {
        rename("/run/.cay-guest-away", GUEST);
        succeeded(GUEST " can be renamed");
    }
    int reason = errno;
    if (!unlink(GUEST))
        succeeded(GUEST " can be removed");
    refused("rename: %s, remove: %s", strerror(reason), strerror(errno));
}

static void talk_as_node(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "\0cay"};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&address, offsetof(struct sockaddr_un, sun_path) + 4))
        refused("connect: %s", strerror(errno));
    static const unsigned char hello[] = {9, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0};
    unsigned char answer[16];
    if (send(fd, hello, sizeof hello, MSG_NOSIGNAL) < 0 || recv(fd, answer, sizeof answer, 0) <= 0)
        refused("the guest hung up");
    succeeded("the guest answered");
}

const struct probe file_probes[] = {
    {"device-block", make_block_device},
    {"device-memory", make_memory_device},
    {"device-log", make_log_device},
    {"device-nodes", open_devices},
    {"core-pattern", core_pattern},
    {"modprobe-path", modprobe_path},
    {"sysctl-vm", memory_settings},
    {"sysctl-net", network_settings},
    {"sysctl-user", user_settings},
    {"sysrq", system_request},
    {"sysfs", system_files},
    {"cgroup-release-agent", release_agent},
    {"cgroup-members", cgroup_members},
    {"kcore", kernel_memory},
    {"kallsyms", kernel_symbols},
    {"host-facts", host_facts},
    {"guest-overwrite", overwrite_guest},
    {"guest-exe", overwrite_first_program},
    {"guest-replace", replace_guest},
    {"guest-socket", talk_as_node},
    {0},
};
