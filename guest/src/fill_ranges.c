/* Which page of a task's memory is where, in memory that a successor finds as its predecessor left it.
 *
 * Lists change only while the report says that an event is being read. So a filler that dies at another time leaves them
 * whole; only bits of pages that are in change at any time, one word after the other. */
#include "fill.h"

#include <string.h>
#include <sys/mman.h>

#define SMALLEST 6
#define CLASSES 28

struct block {
    uint64_t class;
    struct block *next;
};

static struct pool {
    uint64_t used;
    struct block *free[CLASSES];
} *pool;

void make_lists(void)
{
    pool = mmap(NULL, LISTS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pool == MAP_FAILED)
        die("fill: reserve memory for lists");
    pool->used = sizeof *pool;
}

static int has_room(uint64_t class)
{
    return pool->free[class] || pool->used + (1ul << class) <= LISTS;
}

/* Sizes are powers of two, and lists that were given back are used again. */
void *take_list(uint64_t bytes)
{
    uint64_t class = SMALLEST;
    while (class < CLASSES && (1ul << class) < bytes + sizeof(struct block))
        class++;
    if (class < CLASSES && !has_room(class))
        leave_gone();
    struct block *block = class < CLASSES ? pool->free[class] : NULL;
    if (block) {
        pool->free[class] = block->next;
    } else {
        if (class == CLASSES || !has_room(class))
            lose("its memory is in too many pieces");
        block = (struct block *)((char *)pool + pool->used);
        pool->used += 1ul << class;
    }
    block->class = class;
    return block + 1;
}

void give_list(void *list)
{
    if (!list)
        return;
    struct block *block = (struct block *)list - 1;
    block->next = pool->free[block->class];
    pool->free[block->class] = block;
}

static void make_room(struct task *task, uint32_t more)
{
    if (task->count + more <= task->room)
        return;
    uint32_t room = 2 * (task->count + more);
    struct range *ranges = take_list(room * sizeof *ranges);
    if (task->count)
        memcpy(ranges, task->ranges, task->count * sizeof *ranges);
    give_list(task->ranges);
    task->ranges = ranges;
    task->room = room;
}

/* The number of ranges that end at or before an address. */
static uint32_t ranges_before(const struct task *task, uint64_t address)
{
    uint32_t low = 0, high = task->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (task->ranges[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct range *find_range(struct task *task, uint64_t address)
{
    uint32_t at = ranges_before(task, address);
    return at < task->count && task->ranges[at].start <= address ? &task->ranges[at] : NULL;
}

static void insert(struct task *task, uint32_t at, struct range range)
{
    make_room(task, 1);
    memmove(task->ranges + at + 1, task->ranges + at, (task->count - at) * sizeof range);
    task->ranges[at] = range;
    task->count++;
}

void add_range(struct task *task, uint64_t start, uint64_t end, uint64_t page, int wiped)
{
    insert(task, ranges_before(task, start),
           (struct range){.start = start, .end = end, .page = page, .wiped = (uint64_t)wiped});
}

void cut_ranges(struct task *task, uint64_t start, uint64_t end)
{
    uint32_t at = ranges_before(task, start), to = at;
    if (at == task->count || task->ranges[at].start >= end)
        return;
    struct range first = task->ranges[at];
    if (first.start < start && first.end > end) {
        struct range rest = first;
        rest.start = end;
        rest.page += (end - first.start) / shared->page;
        task->ranges[at].end = start;
        insert(task, at + 1, rest);
        task->cursor = 0;
        return;
    }
    if (first.start < start) {
        task->ranges[at].end = start;
        to = ++at;
    }
    while (to < task->count && task->ranges[to].end <= end)
        to++;
    if (to < task->count && task->ranges[to].start < end) {
        task->ranges[to].page += (end - task->ranges[to].start) / shared->page;
        task->ranges[to].start = end;
    }
    memmove(task->ranges + at, task->ranges + to, (task->count - to) * sizeof first);
    task->count -= to - at;
    task->cursor = 0;
}

void move_ranges(struct task *task, uint64_t from, uint64_t to, uint64_t length)
{
    uint32_t first = ranges_before(task, from), count = 0;
    while (first + count < task->count && task->ranges[first + count].start < from + length)
        count++;
    struct range *moved = take_list((count + 1) * sizeof *moved);
    for (uint32_t i = 0; i < count; i++) {
        struct range range = task->ranges[first + i];
        uint64_t start = range.start > from ? range.start : from;
        uint64_t end = range.end < from + length ? range.end : from + length;
        moved[i] = (struct range){.start = start - from + to,
                                  .end = end - from + to,
                                  .page = range.page + (start - range.start) / shared->page,
                                  .wiped = range.wiped};
    }
    cut_ranges(task, from, from + length);
    cut_ranges(task, to, to + length);
    for (uint32_t i = 0; i < count; i++)
        insert(task, ranges_before(task, moved[i].start), moved[i]);
    give_list(moved);
    task->cursor = 0;
}

static uint64_t bytes_of_bits(uint64_t pages)
{
    return (pages + 63) / 64 * sizeof(uint64_t);
}

void copy_ranges(struct task *child, const struct task *parent)
{
    child->count = 0;
    child->room = 0;
    child->ranges = NULL;
    make_room(child, parent->count + 1);
    for (uint32_t i = 0; i < parent->count; i++)
        if (!parent->ranges[i].wiped)
            child->ranges[child->count++] = parent->ranges[i];
    child->in = take_list(bytes_of_bits(parent->pages));
    memcpy(child->in, parent->in, bytes_of_bits(parent->pages));
    child->pages = parent->pages;
    child->cursor = 0;
}

void drop_ranges(struct task *task)
{
    give_list(task->ranges);
    give_list(task->in);
    task->ranges = NULL;
    task->in = NULL;
    task->count = task->room = 0;
}

int is_in(const struct task *task, uint64_t page)
{
    return page >= task->pages || (task->in[page / 64] >> (page % 64) & 1);
}

void note_in(struct task *task, uint64_t page, uint64_t count)
{
    for (; count-- && page < task->pages; page++)
        task->in[page / 64] |= 1ul << (page % 64);
}
