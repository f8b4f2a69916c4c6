/* Attempts at mounts, namespaces and other processes. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The same on every CPU; the C library of older distributions lacks some. */
#define NR_open_tree 428
#define NR_fsopen 430
#define NR_pidfd_open 434
#define NR_clone3 435
#define NR_mount_setattr 442

/* --- mounts --- */

static void mount_old(void)
{
    judge_strictly("mount tmpfs", mount("none", scratch(), "tmpfs", 0, ""));
}

static void mount_new(void)
{
    judge_strictly("fsopen tmpfs", syscall(NR_fsopen, "tmpfs", 0));
}

static void mount_copy(void)
{
    judge_strictly("open_tree / as a copy", syscall(NR_open_tree, AT_FDCWD, "/", 1u | O_CLOEXEC));
}

static void mount_attributes(void)
{
    uint64_t attributes[4] = {0, 1, 0, 0};
    judge_strictly("mount_setattr /sys writable",
                   syscall(NR_mount_setattr, AT_FDCWD, "/sys", 0u, attributes, sizeof attributes));
}

static void remount(void)
{
    judge_strictly("remount /sys writable", mount(NULL, "/sys", NULL, MS_REMOUNT | MS_BIND, NULL));
}

static void unmask(void)
{
    judge_strictly("umount /proc/cmdline", umount2("/proc/cmdline", MNT_DETACH));
}

static void change_root(void)
{
    judge("pivot_root", syscall(SYS_pivot_root, "/tmp", "/tmp"));
}

/* --- namespaces --- */

static void new_user_namespace(void)
{
    judge_strictly("unshare user namespace", unshare(CLONE_NEWUSER));
}

static void new_mount_namespace(void)
{
    judge_strictly("unshare mount namespace", unshare(CLONE_NEWNS));
}

static void new_network_namespace(void)
{
    judge_strictly("unshare network namespace", unshare(CLONE_NEWNET));
}

static void judge_clone(const char *what, long child)
{
    if (child == 0)
        _exit(0);
    judge_strictly(what, child);
}

static void clone_user(void)
{
    judge_clone("clone with a user namespace", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
}

static void clone_namespaces(void)
{
    judge_clone("clone with mount, network and pid namespaces",
                syscall(SYS_clone, CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0));
}

static void clone3_user(void)
{
    uint64_t arguments[11] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
    judge_clone("clone3 with a user namespace", syscall(NR_clone3, arguments, sizeof arguments));
}

static void enter_namespace(void)
{
    static const char *const names[] = {"mnt", "net", "uts", "ipc"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/1/ns/%s", names[i]);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && !setns(fd, 0))
            succeeded("setns %s worked", path);
    }
    refused("setns: %s", strerror(errno));
}

/* --- other processes --- */

static pid_t outsider(void)
{
    pid_t pid = atoi(known("pid"));
    if (pid <= 1)
        unclear("no pid=");
    return pid;
}

static void signal_outside(void)
{
    judge_strictly("kill(0) of a host's process", kill(outsider(), 0));
}

static void trace_outside(void)
{
    judge_strictly("ptrace of a host's process", ptrace(PTRACE_SEIZE, outsider(), 0, 0));
}

static void pidfd_outside(void)
{
    judge_strictly("pidfd_open of a host's process", syscall(NR_pidfd_open, outsider(), 0));
}

static void read_memory(void)
{
    char from[8] = "secret", to[8];
    struct iovec source = {from, sizeof from}, target = {to, sizeof to};
    judge_strictly("process_vm_readv", process_vm_readv(getpid(), &target, 1, &source, 1, 0));
}

const struct probe namespace_probes[] = {
    {"mount", mount_old},
    {"mount-new-api", mount_new},
    {"mount-copy", mount_copy},
    {"mount-attributes", mount_attributes},
    {"remount", remount},
    {"unmask", unmask},
    {"pivot-root", change_root},
    {"unshare-user", new_user_namespace},
    {"unshare-mount", new_mount_namespace},
    {"unshare-network", new_network_namespace},
    {"clone-user", clone_user},
    {"clone-namespaces", clone_namespaces},
    {"clone3-user", clone3_user},
    {"setns", enter_namespace},
    {"signal-outside", signal_outside},
    {"ptrace-outside", trace_outside},
    {"pidfd-outside", pidfd_outside},
    {"process-memory", read_memory},
    {0},
};
