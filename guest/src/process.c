#include "cay.h"
#include "process.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct process *table[BUCKETS];

struct process **slot_of(pid_t pid)
{
    struct process **at = &table[(unsigned)pid % BUCKETS];
    while (*at && (*at)->pid != pid)
        at = &(*at)->next;
    return at;
}

void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void stop_copying(struct process *process)
{
    if (!process->terminal)
        return;
    terminal_free(process->terminal);
    process->terminal = NULL;
    close_end(&process->in);
    close_end(&process->out);
}

int set_copied(struct process *process, int copied)
{
    if (!copied)
        stop_copying(process);
    if (!copied || process->terminal || process->master < 0)
        return 1;
    process->terminal = terminal_new(&process->in, &process->out);
    if (!process->terminal)
        return 0;
    terminal_begin(process->terminal, process->master, process->pid);
    return 1;
}

/* Pipes are made first, because a running process could not be undone if they failed. */
const char *start_with_streams(const struct spawn_request *request, struct process *process, int copied)
{
    struct spawned result;
    *process = (struct process){.flags = request->flags, .master = -1, .in = -1, .out = -1, .err = -1};
    if (copied && request->flags & WANTS_PTY && !(process->terminal = terminal_new(&process->in, &process->out)))
        return "pty";
    const char *failed = spawn(request, &result);
    if (failed) {
        int reason = errno;
        stop_copying(process);
        errno = reason;
        return failed;
    }
    process->pid = result.pid;
    if (request->flags & WANTS_PTY) {
        process->master = result.in;
        if (process->terminal)
            terminal_begin(process->terminal, process->master, process->pid);
        return NULL;
    }
    process->in = result.in;
    process->out = result.out;
    process->err = result.err;
    return NULL;
}

void forget(pid_t pid)
{
    struct process **at = slot_of(pid), *gone = *at;
    if (!gone)
        return;
    *at = gone->next;
    stop_copying(gone);
    close_end(&gone->master);
    close_end(&gone->in);
    close_end(&gone->out);
    close_end(&gone->err);
    free(gone->tag);
    free(gone);
}
