/* The processes that were spawned and not forgotten, with the guest's own copy of their streams. */
#ifndef CAY_PROCESS_H
#define CAY_PROCESS_H

#include "spawn.h"
#include "terminal.h"

#include <stdint.h>
#include <sys/types.h>

#define BUCKETS 1024

/* What is lent to the node: `in`, `out` and `err`, or the master of a terminal that is not copied; -1 where there is
 * none. `told` is set when the node was to hear of the exit, which is behind a terminal's last output. */
struct process {
    struct process *next;
    pid_t pid;
    uint32_t flags;
    int master, in, out, err;
    struct terminal *terminal;
    int exited, told, core, code, signal;
    char *tag;
};

extern struct process *table[BUCKETS];

/* Where the process is linked, or would be. */
struct process **slot_of(pid_t pid);

/* A process that is not in the table. Returns NULL, or the name of the step that failed with errno set. */
const char *start_with_streams(const struct spawn_request *request, struct process *process, int copied);

/* Has a terminal copied, or not; without a terminal nothing happens. Returns 0 with errno set when that fails. What is
 * on its way in the pipes is lost when copying ends. */
int set_copied(struct process *process, int copied);

void close_end(int *fd);

/* Closes its streams and frees it. */
void forget(pid_t pid);

#endif
