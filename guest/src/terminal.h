/* Terminals, copied to and from pipes: the node shares no open file with the sandbox that could make it wait. */
#ifndef CAY_TERMINAL_H
#define CAY_TERMINAL_H

#include <poll.h>
#include <stddef.h>
#include <sys/types.h>

struct terminal;

/* Opens the pipes; the caller owns the node's ends. NULL with errno set when that fails. */
struct terminal *terminal_new(int *node_in, int *node_out);

/* Copies from now on. The master stays the caller's, and open until terminal_free. */
void terminal_begin(struct terminal *terminal, int master, pid_t pid);

void terminal_free(struct terminal *terminal);

/* Copies what can be copied without waiting. Returns 1 when the terminal holds no output that came before
 * terminal_ending, or that much that others must still be writing. */
int terminal_copy(struct terminal *terminal);

/* The process has ended; what it printed is still on its way. */
void terminal_ending(struct terminal *terminal);

/* What to wait for. The first two entries are the caller's; NULL never. */
struct pollfd *terminals_poll(size_t *count);

/* After the wait: copies, and tells whose process had ended and is through with its output. */
void terminals_copy(void (*through)(pid_t pid));

#endif
