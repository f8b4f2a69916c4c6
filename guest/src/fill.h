/* Fills the memory of a restored sandbox while it runs, page by page. fill.c says how the parts work together. */
#ifndef CAY_FILL_H
#define CAY_FILL_H

#include "cay.h"

#include <stdint.h>

#define MOST_TASKS 16384
#define MOST_FILES 8192
#define MOST_TOUCHED 32768
/* All lists of ranges together. Only a program that tears its memory to pieces meanwhile needs as much. */
#define LISTS (128ul << 20)

/* ---- what the node reads ------------------------------------------------------------------------------------------- */

enum stage { STAGE_WAITING = 1, STAGE_RESTORING, STAGE_FILLING, STAGE_DONE, STAGE_LOST };

/* A file that both processes map; FillState of the node reads it. Numbers are in the order of the processor. */
struct report {
    uint32_t version;
    uint32_t stage;
    uint32_t reading; /* the filler is between reading an event and having noted all of it */
    uint32_t successors;
    int32_t holder, filler;
    uint64_t pages, copied, faults, zeros, events;
    char reason[200];
};

/* ---- what both processes share ------------------------------------------------------------------------------------- */

/* Part of a task's memory, whose content is in consecutive pages of the task's file. */
struct range {
    uint64_t start, end;
    uint64_t page; /* of the file */
    uint64_t wiped; /* whether children get zeros instead */
};

struct task {
    int descriptor; /* its userfaultfd */
    int origin;     /* the number of the restored process it is, or descends from */
    int file;
    int live, full;
    uint32_t count, room;
    uint32_t cursor; /* all pages of the ranges before it are in */
    uint64_t pages;  /* bits in `in` */
    struct range *ranges;
    uint64_t *in; /* one bit for each page of the file: it is in, or was removed again */
};

struct touched {
    uint64_t origin, address;
};

struct shared {
    struct report *report;
    uint64_t page; /* its size */
    unsigned long uid;
    unsigned rest; /* microseconds between two steps of the background */
    int images, listener, connection, first, list, ready;
    int task_count, file_count;
    uint32_t touched_count;
    struct task tasks[MOST_TASKS];
    struct {
        int descriptor;
        uint64_t size;
    } files[MOST_FILES];
    struct touched touched[MOST_TOUCHED];
};

extern struct shared *shared;

/* Between the two the lists are not what they say: whoever dies there leaves what nobody can trust. */
void begin_reading(void);
void end_reading(void);

/* Notes that the sandbox cannot go on, and waits for its end; nothing is ever answered again. */
void lose(const char *why, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* ---- fill_ranges.c: which page is where ---------------------------------------------------------------------------- */

void make_lists(void);
void *take_list(uint64_t bytes);
void give_list(void *list);

/* The range with this address; NULL if its content is all zeros. */
struct range *find_range(struct task *task, uint64_t address);
void add_range(struct task *task, uint64_t start, uint64_t end, uint64_t page, int wiped);
void cut_ranges(struct task *task, uint64_t start, uint64_t end);
void move_ranges(struct task *task, uint64_t from, uint64_t to, uint64_t length);
void copy_ranges(struct task *child, const struct task *parent);
void drop_ranges(struct task *task);

int is_in(const struct task *task, uint64_t page);
void note_in(struct task *task, uint64_t page, uint64_t count);

/* ---- fill_rights.c: what the two processes may do ------------------------------------------------------------------ */

/* The limits of both from the start. */
void stay(void);

/* After the handshake: a user of the sandbox's own, who can open nothing. */
void drop_privileges(void);

/* ---- fill_criu.c: the handshake ------------------------------------------------------------------------------------ */

#define DEVICE "/dev/userfaultfd"

void listen_for_criu(const char *work);
void meet_criu(void);

/* One message of CRIU. */
void hear_criu(void);

/* ---- fill_images.c: what CRIU saved -------------------------------------------------------------------------------- */

/* Reads where a process's pages are. */
void read_images(struct task *task);

/* ---- fill_serve.c: answers ----------------------------------------------------------------------------------------- */

/* Wakes all that wait: what an earlier filler had read of them is lost. Closes what it had done with. */
void take_over(void);

/* Reads what a task has to say; 0 if that is nothing. */
int hear(struct task *task);

/* Tries to fill each page that is waited for, once. */
void answer(void);

/* Whether there are pages that could not be filled yet. */
int faults_wait(void);

/* One step of the background; 0 when everything is in. */
int fill_some(void);

/* Gives the places of tasks that have ended back. */
void leave_gone(void);

void serve(int other);

#endif
