/* What the two processes that fill memory may do. */
#include "fill.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_DESCRIPTORS 65536

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* All that they call once the handshake is over: no file, connection or program can be opened with these. */
static const unsigned short allowed[] = {
    SYS_read, SYS_write, SYS_pread64, SYS_ioctl, SYS_close, SYS_fcntl, SYS_ftruncate, SYS_ppoll, SYS_mmap, SYS_munmap,
    SYS_mremap, SYS_mprotect, SYS_madvise, SYS_brk, SYS_clone, SYS_pidfd_open, SYS_kill, SYS_wait4, SYS_getpid, SYS_getuid,
    SYS_clock_gettime, SYS_clock_nanosleep, SYS_nanosleep, SYS_restart_syscall, SYS_rt_sigprocmask, SYS_rt_sigaction,
    SYS_rt_sigreturn, SYS_gettid, SYS_tgkill, SYS_futex, SYS_getrandom, SYS_exit, SYS_exit_group,
#if defined(__x86_64__)
    SYS_poll, SYS_pause,
#endif
};

#define ALLOWED (sizeof allowed / sizeof *allowed)

static int refuse_other_calls(void)
{
    struct sock_filter filter[ALLOWED + 6];
    size_t count = 0;
    filter[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    filter[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 0, ALLOWED + 1);
    filter[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < ALLOWED; i++)
        filter[count++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], (unsigned char)(ALLOWED - i), 0);
    filter[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    filter[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = (unsigned short)count, .filter = filter};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

void drop_privileges(void)
{
    if (!shared->uid || getuid())
        return;
    gid_t group = (gid_t)shared->uid;
    uid_t user = (uid_t)shared->uid;
    if (setgroups(0, NULL) || setresgid(group, group, group) || setresuid(user, user, user)
        || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || refuse_other_calls())
        lose("its filler keeps its privileges: %s", strerror(errno));
}

/* The kernel must not choose this program when memory is short: its end would be that of a sandbox. */
void stay(void)
{
    struct rlimit limit;
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score < 0 || write(score, "-1000", 5) != 5)
        shared->report->reason[0] = 0; /* Without that right it is as safe as the daemon. */
    if (score >= 0)
        close(score);
    if (!getrlimit(RLIMIT_NOFILE, &limit)) {
        limit.rlim_cur = limit.rlim_max < MOST_DESCRIPTORS ? limit.rlim_max : MOST_DESCRIPTORS;
        limit.rlim_max = limit.rlim_cur;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    limit = (struct rlimit){0, 0};
    setrlimit(RLIMIT_CORE, &limit);
    limit.rlim_cur = limit.rlim_max = sizeof shared->touched;
    setrlimit(RLIMIT_FSIZE, &limit);
}
