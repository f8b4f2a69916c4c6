/* Answers page faults, follows what a program does to its memory meanwhile, and fills the rest in the background.
 *
 * The kernel refuses to change memory (EAGAIN) from the moment a program changes its mappings until the event that says
 * so was read. So what the lists say when a page is filled is always true: on EAGAIN events are read, and the page is
 * looked up again. */
#include "fill.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Pages that are filled for one fault, and by one step of the background. */
#define FAULT_PAGES 16
#define STEP_PAGES 128
#define MESSAGES 16

/* From so many tasks on those that have ended are looked for. */
#define FIRST_LOOK 256

/* No program has memory below. */
#define LOWEST (1ul << 16)

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

/* CHANGED: the kernel wants an event to be read first. FULL: the sandbox has no memory left, so the kernel ends one of its
 * processes. */
enum outcome { FILLED, CHANGED, FULL, GONE };

/* Of this process alone. A successor maps the files again. */
static unsigned char *maps[MOST_FILES];

struct fault {
    int task;
    uint64_t address;
};

static struct fault *faults;
static size_t fault_count, fault_room;

static unsigned char *pages_of(int file)
{
    if (!maps[file] && shared->files[file].size) {
        void *map = mmap(NULL, shared->files[file].size, PROT_READ, MAP_SHARED, shared->files[file].descriptor, 0);
        if (map == MAP_FAILED)
            lose("its pages cannot be mapped: %s", strerror(errno));
        maps[file] = map;
    }
    return maps[file];
}

static void wake(const struct task *task, uint64_t start, uint64_t length)
{
    struct uffdio_range range = {.start = start, .len = length};
    ioctl(task->descriptor, UFFDIO_WAKE, &range);
}

/* Lets the kernel give zeros for what is still missing of a task. */
static void close_task(struct task *task)
{
    close(task->descriptor);
    task->descriptor = -1;
}

/* No more is to be done for a task: it is gone, or all of its pages are in. A successor closes what is left open. */
static void leave(struct task *task)
{
    begin_reading();
    task->live = 0;
    drop_ranges(task);
    end_reading();
    close_task(task);
}

/* A page of zeros at a place where nothing else would be put. */
static int zero_lowest(const struct task *task)
{
    struct uffdio_zeropage zero = {.range = {.start = LOWEST, .len = shared->page}};
    return ioctl(task->descriptor, UFFDIO_ZEROPAGE, &zero) ? errno : 0;
}

/* ---- pages --------------------------------------------------------------------------------------------------------- */

static enum outcome copy_pages(struct task *task, uint64_t address, uint64_t page, uint64_t count)
{
    uint64_t most = count;
    int absent = 0;
    while (count) {
        uint64_t some = count < most ? count : most;
        struct uffdio_copy copy = {.dst = address,
                                   .src = (uint64_t)(pages_of(task->file) + page * shared->page),
                                   .len = some * shared->page};
        int failed = ioctl(task->descriptor, UFFDIO_COPY, &copy) ? errno : 0;
        uint64_t done = failed ? (copy.copy > 0 ? (uint64_t)copy.copy / shared->page : 0) : some;
        shared->report->copied += done;
        /* What is in already, and what is not there at all, is done with too. Before the restore is over, a place may
         * only not be ready yet. */
        int skip = failed == EEXIST || (failed == ENOENT && absent && shared->report->stage == STAGE_FILLING);
        if (skip && !done) {
            wake(task, address, shared->page);
            done = 1;
        }
        note_in(task, page, done);
        address += done * shared->page;
        page += done;
        count -= done;
        absent = 0;
        if (!failed || done)
            continue;
        if (failed == ENOENT && most > 1)
            most = 1; /* The pages cross mappings. */
        else if (failed == ENOENT && shared->report->stage == STAGE_FILLING)
            absent = 1; /* The kernel looks for changes first, so one that began meanwhile is reported by the next call. */
        else if (failed == ENOENT)
            return FILLED;
        else if (failed == ESRCH)
            return GONE;
        else if (failed == EAGAIN)
            return CHANGED;
        else if (failed == ENOMEM)
            return FULL;
        else
            lose("a page cannot be filled: %s", strerror(failed));
    }
    return FILLED;
}

static enum outcome zero_page(struct task *task, uint64_t address)
{
    struct uffdio_zeropage zero = {.range = {.start = address, .len = shared->page}};
    shared->report->zeros++;
    if (!ioctl(task->descriptor, UFFDIO_ZEROPAGE, &zero))
        return FILLED;
    switch (errno) {
    case EAGAIN:
        return CHANGED;
    case ENOMEM:
        return FULL;
    case ESRCH:
        return GONE;
    default:
        wake(task, address, shared->page);
        return FILLED;
    }
}

/* Fills from an address on, up to so many pages. */
static enum outcome fill_from(struct task *task, uint64_t address, uint64_t most)
{
    struct range *range = find_range(task, address);
    if (!range)
        return zero_page(task, address);
    uint64_t page = range->page + (address - range->start) / shared->page;
    uint64_t left = (range->end - address) / shared->page, count = 0;
    while (count < left && count < most && !is_in(task, page + count))
        count++;
    /* It was in, and was taken away again in a way of which there is no event, like lazy freeing. */
    if (!count)
        return zero_page(task, address);
    return copy_pages(task, address, page, count);
}

/* ---- events -------------------------------------------------------------------------------------------------------- */

/* The task whose lists are being changed. */
static const struct task *changing;

void leave_gone(void)
{
    for (int i = 0; i < shared->task_count; i++) {
        struct task *task = &shared->tasks[i];
        if (task->live && task != changing && !find_range(task, LOWEST) && zero_lowest(task) == ESRCH) {
            task->live = 0;
            drop_ranges(task);
            close_task(task);
        }
    }
}

static struct task *ended_task(void)
{
    for (int i = 0; i < shared->task_count; i++)
        if (!shared->tasks[i].live)
            return &shared->tasks[i];
    return NULL;
}

/* A program that forks again and again leaves many tasks that have ended. Looking for them costs a call for each. */
static struct task *free_task(void)
{
    static int look = FIRST_LOOK;
    struct task *task = ended_task();
    if (!task && shared->task_count >= look) {
        leave_gone();
        task = ended_task();
        look = 2 * shared->task_count < MOST_TASKS ? 2 * shared->task_count : MOST_TASKS;
    }
    if (task)
        return task;
    if (shared->task_count == MOST_TASKS)
        lose("it has more than %d processes at a time", MOST_TASKS);
    return &shared->tasks[shared->task_count++];
}

static void add_child(const struct task *parent, int descriptor)
{
    struct task *child = free_task();
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
    child->descriptor = descriptor;
    child->origin = parent->origin;
    child->file = parent->file;
    copy_ranges(child, parent);
    child->live = 1;
}

static void note_touched(const struct task *task, uint64_t address)
{
    if (shared->touched_count < MOST_TOUCHED)
        shared->touched[shared->touched_count++] =
            (struct touched){.origin = (uint64_t)task->origin, .address = address};
}

static void add_fault(struct task *task, uint64_t address)
{
    if (fault_count == fault_room) {
        fault_room = fault_room ? 2 * fault_room : 64;
        faults = realloc(faults, fault_room * sizeof *faults);
        if (!faults)
            lose("no memory for the list of faults");
    }
    faults[fault_count++] = (struct fault){.task = (int)(task - shared->tasks), .address = address & ~(shared->page - 1)};
}

static void apply(struct task *task, const struct uffd_msg *message)
{
    shared->report->events++;
    changing = task;
    switch (message->event) {
    case UFFD_EVENT_FORK:
        add_child(task, (int)message->arg.fork.ufd);
        break;
    case UFFD_EVENT_REMAP:
        move_ranges(task, message->arg.remap.from, message->arg.remap.to, message->arg.remap.len);
        break;
    case UFFD_EVENT_REMOVE:
    case UFFD_EVENT_UNMAP:
        cut_ranges(task, message->arg.remove.start, message->arg.remove.end);
        break;
    default:
        lose("the kernel reports an unknown event %d", message->event);
    }
    changing = NULL;
}

/* Reads what a task has to say. Whoever reads an event has acknowledged it: the program goes on. So a filler that ends
 * before all of it is noted leaves lists that nobody can trust.
 *
 * Events first, and faults when they are all noted: a fault may lie where an event moved something. */
int hear(struct task *task)
{
    struct uffd_msg messages[MESSAGES];
    ssize_t got;
    int heard = 0;
    do {
        begin_reading();
        got = read(task->descriptor, messages, sizeof messages);
        int reason = errno;
        for (ssize_t i = 0; i < got / (ssize_t)sizeof *messages; i++) {
            heard = 1;
            if (messages[i].event != UFFD_EVENT_PAGEFAULT) {
                apply(task, &messages[i]);
                continue;
            }
            shared->report->faults++;
            add_fault(task, messages[i].arg.pagefault.address);
        }
        /* The kernel keeps the event of a fork for which there is no descriptor. */
        if (got < 0 && (reason == EMFILE || reason == ENFILE))
            leave_gone();
        end_reading();
        if (got < 0 && (reason == EMFILE || reason == ENFILE))
            usleep(1000);
    } while (got == sizeof messages);
    return heard;
}

int faults_wait(void)
{
    return fault_count > 0;
}

/* The fault is answered, as are others of the same page. */
static void forget(struct fault fault)
{
    size_t kept = 0;
    for (size_t i = 0; i < fault_count; i++)
        if (faults[i].task != fault.task || faults[i].address != fault.address)
            faults[kept++] = faults[i];
    fault_count = kept;
}

/* Each once, so that one that cannot be answered now keeps nobody waiting. What is heard meanwhile is answered too. */
void answer(void)
{
    size_t at = 0;
    while (at < fault_count) {
        struct fault fault = faults[at];
        struct task *task = &shared->tasks[fault.task];
        enum outcome outcome = task->live ? fill_from(task, fault.address, FAULT_PAGES) : FILLED;
        /* The event comes when the change is made. */
        if (outcome == CHANGED && hear(task))
            outcome = task->live ? fill_from(task, fault.address, FAULT_PAGES) : FILLED;
        if (outcome == CHANGED || outcome == FULL) {
            at++;
            continue;
        }
        if (outcome == GONE)
            leave(task);
        else if (task->live)
            note_touched(task, fault.address);
        forget(fault);
    }
}

/* ---- the background ------------------------------------------------------------------------------------------------ */

/* The next page of a range that is not in; the number of all its pages if there is none. */
static uint64_t next_missing(const struct task *task, const struct range *range)
{
    uint64_t pages = (range->end - range->start) / shared->page, i = 0;
    while (i < pages && is_in(task, range->page + i)) {
        uint64_t page = range->page + i;
        i += page % 64 == 0 && page / 64 < (task->pages + 63) / 64 && task->in[page / 64] == ~0ul ? 64 : 1;
    }
    return i < pages ? i : pages;
}

static void fill_missing(struct task *task, const struct range *range, uint64_t offset)
{
    uint64_t address = range->start + offset * shared->page, page = range->page + offset;
    uint64_t left = (range->end - address) / shared->page, count = 0;
    while (count < left && count < STEP_PAGES && !is_in(task, page + count))
        count++;
    /* Faults wait for a step of the background, and this part of it takes longest if the disk has to be read. */
    madvise(pages_of(task->file) + page * shared->page, count * shared->page, MADV_POPULATE_READ);
    enum outcome outcome = copy_pages(task, address, page, count);
    if (outcome == GONE)
        leave(task);
    else if (outcome == CHANGED)
        hear(task);
    else if (outcome == FULL)
        usleep(1000);
}

/* What the last restore from these pages touched, in that order. */
static int fill_next_touched(void)
{
    static uint64_t at;
    struct touched next;
    while (pread(shared->first, &next, sizeof next, (off_t)(at * sizeof next)) == sizeof next) {
        at++;
        for (int i = 0; i < shared->task_count; i++) {
            struct task *task = &shared->tasks[i];
            struct range *range = task->live && (uint64_t)task->origin == next.origin
                                      ? find_range(task, next.address & ~(shared->page - 1))
                                      : NULL;
            if (!range)
                continue;
            uint64_t offset = (next.address - range->start) / shared->page;
            if (!is_in(task, range->page + offset)) {
                fill_missing(task, range, offset);
                return 1;
            }
        }
    }
    close(shared->first);
    shared->first = -1;
    return 0;
}

int fill_some(void)
{
    if (shared->first >= 0 && fill_next_touched())
        return 1;
    for (int i = 0; i < shared->task_count; i++) {
        struct task *task = &shared->tasks[i];
        if (!task->live)
            continue;
        while (task->cursor < task->count) {
            struct range *range = &task->ranges[task->cursor];
            uint64_t offset = next_missing(task, range);
            if (offset < (range->end - range->start) / shared->page) {
                fill_missing(task, range, offset);
                return 1;
            }
            task->cursor++;
        }
        leave(task);
    }
    return 0;
}

/* The highest address of programs depends on processor and kernel, and a range beyond it is refused. */
static void wake_all(const struct task *task)
{
    for (int bits = 56; bits > 30; bits--) {
        struct uffdio_range all = {.start = LOWEST, .len = (1ul << bits) - LOWEST - shared->page};
        if (!ioctl(task->descriptor, UFFDIO_WAKE, &all))
            return;
    }
}

void take_over(void)
{
    for (int i = 0; i < shared->task_count; i++) {
        struct task *task = &shared->tasks[i];
        if (task->live)
            wake_all(task);
        else if (task->descriptor >= 0 && zero_lowest(task) != ENOTTY)
            close_task(task); /* The number may have been used again, for something else. */
    }
}
