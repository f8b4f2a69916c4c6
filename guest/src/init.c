/* pid 1 of a sandbox. See ../PROTOCOL.md. */
#include "cay.h"
#include "link.h"
#include "process.h"
#include "request.h"
#include "spawn.h"
#include "terminal.h"

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
#define VERSION 3
#endif
#define MAX_TAG 1024
/* From this version on the node gets pipes in place of a terminal. */
#define COPIES_TERMINALS 3

enum { HELLO = 1, SPAWN, ATTACH, SIGNAL, RESIZE, CLOSE_STDIN, LIST, FORGET, SIGNAL_GROUP };

static int greeted;
static uint32_t spoken; /* The version that both sides know. */
static volatile sig_atomic_t children_changed = 1;

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
    if (process->master >= 0 && !process->terminal)
        lent[count++] = process->master;
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

static void tell_exit(struct process *process)
{
    process->told = 1;
    if (link_fd() < 0 || !greeted)
        return;
    struct answer answer;
    begin(&answer, EXIT, 0);
    put_u32(&answer, (uint32_t)process->pid);
    put_u32(&answer, (uint32_t)process->code);
    put_u32(&answer, (uint32_t)process->signal);
    put_u8(&answer, (uint8_t)process->core);
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
    const char *failed = start_with_streams(request, process, spoken >= COPIES_TERMINALS);
    if (failed) {
        answer_error(number, errno, failed);
        free(process);
        return;
    }
    process->tag = *tag;
    *tag = NULL;
    forget(process->pid); /* An old one that ended long ago, if the numbers went all the way round. */
    *slot_of(process->pid) = process;
    answer_with_descriptors(number, (uint32_t)process->pid, process);
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

/* An exit is reported after the output that came before it. */
static void pass_on(struct process *process)
{
    if (process->terminal && terminal_copy(process->terminal) && process->exited && !process->told)
        tell_exit(process);
}

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
            put_u8(&answer, (uint8_t)p->told);
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
    else if (ioctl(process->master, TIOCSWINSZ, &size))
        answer_error(number, errno, "resize");
    else
        answer_ok(number);
}

/* An older node, which does not support copied terminals, gets the terminal itself; bytes in the pipes are lost. */
static void handle_attach(uint32_t number, struct process *process)
{
    if (!set_copied(process, spoken >= COPIES_TERMINALS)) {
        answer_error(number, errno, "pty");
        return;
    }
    if (process->exited && !process->told && !process->terminal)
        tell_exit(process);
    answer_with_descriptors(number, process->flags, process);
}

static void handle_close_stdin(uint32_t number, struct process *process)
{
    if (!(process->flags & WANTS_STDIN)) {
        answer_error(number, EINVAL, "request");
        return;
    }
    close_end(&process->in);
    process->flags |= STDIN_CLOSED;
    answer_ok(number);
}

/* Signals a process, or its group if the pid is negative. */
static void handle_signal(uint32_t number, struct process *process, pid_t target, uint32_t signal_number)
{
    /* If not reaped yet, the pid is still this process's. */
    if (process->exited && !process->told) {
        tell_exit(process);
        answer_ok(number);
    } else if (process->exited)
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
        handle_attach(frame->request, process);
        break;
    case SIGNAL:
        handle_signal(frame->request, process, pid, signal_number);
        break;
    case SIGNAL_GROUP:
        handle_signal(frame->request, process, -pid, signal_number);
        break;
    case RESIZE:
        /* Delivered after earlier input. */
        pass_on(process);
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
    uint32_t theirs = take_u32(frame);
    if (frame->bad)
        return;
    spoken = theirs < VERSION ? theirs : VERSION;
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
        process->core = WIFSIGNALED(status) && WCOREDUMP(status);
        if (process->terminal)
            terminal_ending(process->terminal);
        pass_on(process);
        if (!process->terminal)
            tell_exit(process);
    }
}

static void through(pid_t pid)
{
    struct process *process = *slot_of(pid);
    if (process && process->exited && !process->told)
        tell_exit(process);
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
        size_t count;
        struct pollfd *wait = terminals_poll(&count);
        wait[0] = (struct pollfd){.fd = listener, .events = POLLIN};
        wait[1] = (struct pollfd){.fd = link_fd(),
                                  .events = (short)(POLLIN | (link_wants_to_write() ? POLLOUT : 0))};
        if (ppoll(wait, count, NULL, &while_waiting) < 0)
            continue;
        short of_listener = wait[0].revents, of_link = wait[1].revents;
        terminals_copy(through);
        if (of_link & POLLOUT)
            link_flush();
        if (of_link & (POLLIN | POLLHUP | POLLERR) && link_fd() >= 0)
            link_read(handle);
        if (of_listener)
            accept_node(listener);
    }
}
