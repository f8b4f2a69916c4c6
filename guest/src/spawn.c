#include "cay.h"
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef TIOCGPTPEER
#define TIOCGPTPEER _IO('T', 0x41)
#endif

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* The last descriptor numbers are kept free, so that the node can always connect and send FORGET. */
#define SPARE_FILES 32

struct rlimit child_files;

/* The child's descriptors 0, 1 and 2. */
struct child_ends {
    int in, out, err;
};

static void close_if(int fd)
{
    if (fd >= 0)
        close(fd);
}

static int too_many(int fd)
{
    struct rlimit now;
    if (fd < 0 || getrlimit(RLIMIT_NOFILE, &now) || now.rlim_cur == RLIM_INFINITY)
        return 0;
    return (rlim_t)fd + SPARE_FILES >= now.rlim_cur;
}

/* /dev/pts is a mount that root inside can neither move nor write to, unlike the link /dev/ptmx. */
static const char *open_terminal(const struct spawn_request *request, struct spawned *ours, struct child_ends *theirs)
{
    ours->in = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ours->in < 0)
        return "pty";
    int unlock = 0;
    struct winsize size = {.ws_col = request->columns, .ws_row = request->rows};
    if (ioctl(ours->in, TIOCSPTLCK, &unlock) || ioctl(ours->in, TIOCSWINSZ, &size))
        return "pty";
    theirs->in = ioctl(ours->in, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (theirs->in < 0)
        return "pty";
    if (too_many(theirs->in)) {
        errno = EMFILE;
        return "pty";
    }
    theirs->out = theirs->err = theirs->in;
    return fchown(theirs->in, request->uid, (gid_t)-1) ? "pty" : NULL;
}

/* The user owns the pipe's ends; otherwise reopening /dev/stdout would be refused. */
static int make_pipe(const struct spawn_request *request, int *reader, int *writer)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    *reader = ends[0];
    *writer = ends[1];
    if (too_many(ends[1])) {
        errno = EMFILE;
        return -1;
    }
    return fchown(ends[0], request->uid, request->gid);
}

static const char *open_pipes(const struct spawn_request *request, struct spawned *ours, struct child_ends *theirs)
{
    if (request->flags & WANTS_STDIN) {
        if (make_pipe(request, &theirs->in, &ours->in))
            return "pipe";
    } else {
        theirs->in = open("/dev/null", O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (theirs->in < 0)
            return "pipe";
    }
    if (make_pipe(request, &ours->out, &theirs->out) || make_pipe(request, &ours->err, &theirs->err))
        return "pipe";
    return NULL;
}

static void execute(const struct spawn_request *request)
{
    const char *name = request->argv[0];
    if (strchr(name, '/')) {
        execve(name, request->argv, request->env);
        return;
    }
    const char *path = DEFAULT_PATH;
    for (char **entry = request->env; *entry; entry++)
        if (!strncmp(*entry, "PATH=", 5))
            path = *entry + 5;
    int refused = 0;
    char full[4096];
    while (1) {
        size_t length = strcspn(path, ":");
        int used = length ? snprintf(full, sizeof full, "%.*s/%s", (int)length, path, name)
                          : snprintf(full, sizeof full, "./%s", name);
        if (used > 0 && used < (int)sizeof full) {
            execve(full, request->argv, request->env);
            if (errno == EACCES)
                refused = 1;
            else if (errno != ENOENT && errno != ENOTDIR)
                return;
        }
        if (!path[length])
            break;
        path += length + 1;
    }
    errno = refused ? EACCES : ENOENT;
}

/* Makes the kernel prefer the user's processes over pid 1, whose death would end the sandbox. */
static void offer_to_oom_killer(void)
{
    int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    char text[16] = "";
    ssize_t length = read(fd, text, sizeof text - 1);
    int score = length > 0 ? atoi(text) + 100 : 100;
    length = snprintf(text, sizeof text, "%d", score > 1000 ? 1000 : score);
    if (pwrite(fd, text, (size_t)length, 0) < 0) {
        /* A failure here is no reason to refuse the process. */
    }
    close(fd);
}

static void default_signals(void)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &standard, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Runs in the child and shares the parent's memory: touches nothing but `step` and the stack. Returns on failure.
 * User and groups by raw system calls: the library's would tell other threads, and its locks are the parent's. */
static void become(const struct spawn_request *request, const struct child_ends *ends, const char *volatile *step)
{
    *step = "setsid";
    if (setsid() < 0)
        return;
    *step = "pipe";
    /* Never 0, 1 or 2 themselves: the guest's own are /dev/null from its first moment to its last. */
    if (dup2(ends->in, 0) < 0 || dup2(ends->out, 1) < 0 || dup2(ends->err, 2) < 0)
        return;
    *step = "pty";
    if (request->flags & WANTS_PTY && ioctl(0, TIOCSCTTY, 0))
        return;
    offer_to_oom_killer();
    syscall(SYS_close_range, 3u, ~0u, 0u);
    setrlimit(RLIMIT_NOFILE, &child_files);
    umask(022);
    *step = "setgroups";
    if (syscall(SYS_setgroups, request->group_count, request->groups))
        return;
    *step = "setgid";
    if (syscall(SYS_setresgid, request->gid, request->gid, request->gid))
        return;
    *step = "setuid";
    if (syscall(SYS_setresuid, request->uid, request->uid, request->uid))
        return;
    *step = "chdir";
    if (chdir(request->cwd))
        return;
    default_signals();
    *step = "exec";
    execute(request);
}

static const char *start(const struct spawn_request *request, const struct child_ends *ends, pid_t *pid)
{
    const char *volatile step = "fork";
    volatile int reason = 0;
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t child = vfork();
    if (child == 0) {
        become(request, ends, &step);
        reason = errno;
        _exit(127);
    }
    int fork_error = errno;
    /* The child's setresuid marked the shared memory undumpable, and pid 1's namespaces would belong to host root:
     * the second checkpoint would fail. */
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = child < 0 ? fork_error : reason;
    *pid = child;
    return child < 0 || reason ? step : NULL;
}

const char *spawn(const struct spawn_request *request, struct spawned *result)
{
    struct child_ends theirs = {-1, -1, -1};
    *result = (struct spawned){-1, -1, -1, -1};
    const char *failed = request->flags & WANTS_PTY ? open_terminal(request, result, &theirs)
                                                    : open_pipes(request, result, &theirs);
    if (!failed)
        failed = start(request, &theirs, &result->pid);
    int reason = errno;
    close_if(theirs.in);
    if (theirs.out != theirs.in) {
        close_if(theirs.out);
        close_if(theirs.err);
    }
    if (failed) {
        close_if(result->in);
        close_if(result->out);
        close_if(result->err);
    }
    errno = reason;
    return failed;
}
