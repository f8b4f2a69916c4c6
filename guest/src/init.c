/* pid 1 of a sandbox. See ../PROTOCOL.md. */
#include "cay.h"
#include "link.h"
#include "request.h"
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef VERSION /* a test builds guests of other versions */
#define VERSION 2
#endif
#define MAX_TAG 1024
#define BUCKETS 1024

enum { HELLO = 1, SPAWN, ATTACH, SIGNAL, RESIZE, CLOSE_STDIN, LIST, FORGET, SIGNAL_GROUP };

struct process {
    struct process *next;
    pid_t pid;
    uint32_t flags;
    int in, out, err;
    int exited, code, signal;
    char *tag;
};

static struct process *table[BUCKETS];
static int greeted;
static volatile sig_atomic_t children_changed = 1;

/* --- the table --- */

static struct process **slot_of(pid_t pid)
{
    struct process **at = &table[(unsigned)pid % BUCKETS];
    while (*at && (*at)->pid != pid)
        at = &(*at)->next;
    return at;
}

static void forget(pid_t pid)
{
    struct process **at = slot_of(pid), *gone = *at;
    if (!gone)
        return;
    *at = gone->next;
    if (gone->in >= 0)
        close(gone->in);
    if (gone->out >= 0)
        close(gone->out);
    if (gone->err >= 0)
        close(gone->err);
    free(gone->tag);
    free(gone);
}

/* --- answers --- */

static void answer_ok(uint32_t request)
{
    struct answer answer;
    begin(&answer, OK, request);
    send_answer(&answer, NULL, 0);
}

static void answer_error(uint32_t request, int reason, const char *what)
{
    struct answer answer;
    begin(&answer, ERROR, request);
    put_u32(&answer, (uint32_t)reason);
    put_string(&answer, what);
    send_answer(&answer, NULL, 0);
}

static void answer_with_descriptors(uint32_t request, uint32_t number, const struct process *process)
{
    int lent[MAX_DESCRIPTORS], count = 0;
    if (process->in >= 0)
        lent[count++] = process->in;
    if (process->out >= 0)
        lent[count++] = process->out;
    if (process->err >= 0)
        lent[count++] = process->err;
    struct answer answer;
    begin(&answer, OK, request);
    put_u32(&answer, number);
    send_answer(&answer, lent, count);
}

static void tell_exit(const struct process *process, int core)
{
    if (link_fd() < 0 || !greeted)
        return;
    struct answer answer;
    begin(&answer, EXIT, 0);
    put_u32(&answer, (uint32_t)process->pid);
    put_u32(&answer, (uint32_t)process->code);
    put_u32(&answer, (uint32_t)process->signal);
    put_u8(&answer, (uint8_t)core);
    send_answer(&answer, NULL, 0);
}

/* --- SPAWN --- */

static void start_process(uint32_t number, const struct spawn_request *request, char **tag)
{
    if (!request->argv[0] || !request->argv[0][0] || strlen(*tag) > MAX_TAG || request->flags & ~3u) {
        answer_error(number, EINVAL, "request");
        return;
    }
    struct process *process = calloc(1, sizeof *process);
    if (!process) {
        answer_error(number, ENOMEM, "fork");
        return;
    }
    struct spawned result;
    const char *failed = spawn(request, &result);
    if (failed) {
        answer_error(number, errno, failed);
        free(process);
        return;
    }
    forget(result.pid); /* An old one that ended long ago, if the numbers went all the way round. */
    *process = (struct process){.pid = result.pid, .flags = request->flags, .in = result.in, .out = result.out,
                                .err = result.err, .tag = *tag};
    *tag = NULL;
    *slot_of(result.pid) = process;
    answer_with_descriptors(number, (uint32_t)result.pid, process);
}

static void handle_spawn(struct frame *frame)
{
    struct spawn_request request = {0};
    char *tag = NULL;
    take_spawn_request(frame, &request, &tag);
    if (!frame->bad)
        start_process(frame->request, &request, &tag);
    free_spawn_request(&request);
    free(tag);
}

/* --- the other requests --- */

static void handle_list(uint32_t number)
{
    struct answer answer;
    uint32_t count = 0;
    for (int i = 0; i < BUCKETS; i++)
        for (struct process *p = table[i]; p; p = p->next)
            count++;
    begin(&answer, OK, number);
    put_u32(&answer, count);
    for (int i = 0; i < BUCKETS; i++)
        for (struct process *p = table[i]; p; p = p->next) {
            put_u32(&answer, (uint32_t)p->pid);
            put_u32(&answer, p->flags);
            put_u8(&answer, (uint8_t)p->exited);
            put_u32(&answer, (uint32_t)p->code);
            put_u32(&answer, (uint32_t)p->signal);
            put_string(&answer, p->tag);
        }
    send_answer(&answer, NULL, 0);
}

static void handle_resize(uint32_t number, const struct process *process, uint16_t columns, uint16_t rows)
{
    struct winsize size = {.ws_col = columns, .ws_row = rows};
    if (!(process->flags & WANTS_PTY))
        answer_error(number, ENOTTY, "request");
    else if (ioctl(process->in, TIOCSWINSZ, &size))
        answer_error(number, errno, "resize");
    else
        answer_ok(number);
}

static void handle_close_stdin(uint32_t number, struct process *process)
{
    if (!(process->flags & WANTS_STDIN)) {
        answer_error(number, EINVAL, "request");
        return;
    }
    if (process->in >= 0)
        close(process->in);
    process->in = -1;
    process->flags |= STDIN_CLOSED;
    answer_ok(number);
}

/* To a process, or to the group it leads, named by the negative pid. */
static void handle_signal(uint32_t number, const struct process *process, pid_t target, uint32_t signal_number)
{
    /* Not reaped yet, so the pid is still this process's. */
    if (process->exited)
        answer_error(number, ESRCH, "pid");
    else if (signal_number == 0 || signal_number > 64 || kill(target, (int)signal_number))
        answer_error(number, signal_number && signal_number <= 64 ? errno : EINVAL, "signal");
    else
        answer_ok(number);
}

static void handle_for_process(struct frame *frame, pid_t pid)
{
    struct process *process = *slot_of(pid);
    uint16_t columns = frame->type == RESIZE ? take_u16(frame) : 0;
    uint16_t rows = frame->type == RESIZE ? take_u16(frame) : 0;
    uint32_t signal_number = frame->type == SIGNAL || frame->type == SIGNAL_GROUP ? take_u32(frame) : 0;
    if (frame->bad || frame->at != frame->end) {
        frame->bad = 1;
        return;
    }
    if (!process) {
        answer_error(frame->request, ESRCH, "pid");
        return;
    }
    switch (frame->type) {
    case ATTACH:
        answer_with_descriptors(frame->request, process->flags, process);
        break;
    case SIGNAL:
        handle_signal(frame->request, process, pid, signal_number);
        break;
    case SIGNAL_GROUP:
        handle_signal(frame->request, process, -pid, signal_number);
        break;
    case RESIZE:
        handle_resize(frame->request, process, columns, rows);
        break;
    case CLOSE_STDIN:
        handle_close_stdin(frame->request, process);
        break;
    default:
        forget(pid);
        answer_ok(frame->request);
    }
}

static void handle_hello(struct frame *frame)
{
    take_u32(frame);
    if (frame->bad)
        return;
    greeted = 1;
    struct answer answer;
    begin(&answer, OK, frame->request);
    put_u32(&answer, VERSION);
    send_answer(&answer, NULL, 0);
}

static int handle(struct frame *frame)
{
    if (!greeted && frame->type != HELLO)
        return 0;
    switch (frame->type) {
    case HELLO:
        handle_hello(frame);
        break;
    case SPAWN:
        handle_spawn(frame);
        break;
    case LIST:
        handle_list(frame->request);
        break;
    case ATTACH:
    case SIGNAL:
    case SIGNAL_GROUP:
    case RESIZE:
    case CLOSE_STDIN:
    case FORGET:
        handle_for_process(frame, (pid_t)take_u32(frame));
        break;
    default:
        answer_error(frame->request, ENOSYS, "request");
    }
    return !frame->bad;
}

/* --- children and connections --- */

static void on_child(int number)
{
    (void)number;
    children_changed = 1;
}

static void reap(void)
{
    int status;
    pid_t pid;
    children_changed = 0;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        struct process *process = *slot_of(pid);
        if (!process)
            continue;
        process->exited = 1;
        process->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        process->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        tell_exit(process, WIFSIGNALED(status) && WCOREDUMP(status));
    }
}

static int listen_for_node(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "\0cay"};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, offsetof(struct sockaddr_un, sun_path) + 4) || listen(fd, 64))
        _exit(FAILED);
    return fd;
}

/* A peer without a pid here lives outside the pid namespace: only the node does. */
static void accept_node(int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) || peer.pid != 0) {
        close(fd);
        return;
    }
    link_open(fd);
    greeted = 0;
}

static void raise_file_limit(void)
{
    if (getrlimit(RLIMIT_NOFILE, &child_files))
        return;
    struct rlimit raised = {child_files.rlim_max, child_files.rlim_max};
    setrlimit(RLIMIT_NOFILE, &raised);
}

int run_init(void)
{
    sigset_t child, while_waiting;
    struct sigaction on = {.sa_handler = on_child, .sa_flags = SA_RESTART | SA_NOCLDSTOP};
    sigaction(SIGCHLD, &on, NULL);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &while_waiting);
    sigdelset(&while_waiting, SIGCHLD);
    syscall(SYS_close_range, 3u, ~0u, 0u); /* Whatever a runtime left open would be in every checkpoint. */
    umask(022);
    raise_file_limit();
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    int listener = listen_for_node();
    while (1) {
        if (children_changed)
            reap();
        struct pollfd wait[2] = {
            {.fd = listener, .events = POLLIN},
            {.fd = link_fd(), .events = (short)(POLLIN | (link_wants_to_write() ? POLLOUT : 0))},
        };
        if (ppoll(wait, 2, NULL, &while_waiting) < 0)
            continue;
        if (wait[1].revents & POLLOUT)
            link_flush();
        if (wait[1].revents & (POLLIN | POLLHUP | POLLERR) && link_fd() >= 0)
            link_read(handle);
        if (wait[0].revents)
            accept_node(listener);
    }
}
