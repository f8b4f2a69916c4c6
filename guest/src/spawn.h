/* Starting one process inside the sandbox. */
#ifndef CAY_SPAWN_H
#define CAY_SPAWN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

enum { WANTS_PTY = 1, WANTS_STDIN = 2, STDIN_CLOSED = 4 };

struct spawn_request {
    uint32_t flags;
    uint16_t columns, rows;
    uid_t uid;
    gid_t gid;
    size_t group_count;
    gid_t *groups;
    char *cwd;
    char **argv;
    char **env;
};

/* The guest's ends, -1 where there is none. With a PTY only `in` is set: the master. */
struct spawned {
    pid_t pid;
    int in, out, err;
};

/* Limit on open files that children get back; the guest raises its own. */
extern struct rlimit child_files;

/* Returns NULL, or the name of the step that failed with errno set. */
const char *spawn(const struct spawn_request *request, struct spawned *result);

#endif
