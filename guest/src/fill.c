/* Fills the memory of a sandbox that is being restored, and then runs, from the page files of its snapshot.
 *
 * CRIU restores processes without their memory and hands a userfaultfd of each to the socket on which this program
 * listens. From then on the program answers page faults, and brings in the rest in the background. It ends when
 * everything is in.
 *
 * A userfaultfd whose last holder closes it turns missing pages into zeros, without an error. So there are always two
 * processes, which share one table of descriptors: the filler does the work, the holder does nothing. Each that sees the
 * other end makes another. What the filler knows is in memory that both share. Only a filler that ends while it reads an
 * event leaves what nobody can trust: then the sandbox is lost, and its memory stays missing until the node ends it.
 *
 * CRIU's processes are in the sandbox's user namespace, where the kernel refuses a userfaultfd. So this program opens
 * /dev/userfaultfd and sends it to the shim in CRIU (see shim/memory.c) as the first thing on the connection.
 *
 * When the restore is over, both processes become a user of the sandbox's own range. They keep the userfaultfds, the page
 * files and the report. */
#include "fill.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define VERSION 1
#define CONNECT_LIMIT (5 * 60 * 1000)
#define MOST_SUCCESSORS 16

struct shared *shared;

void lose(const char *why, ...)
{
    va_list arguments;
    va_start(arguments, why);
    vsnprintf(shared->report->reason, sizeof shared->report->reason, why, arguments);
    va_end(arguments);
    __atomic_store_n(&shared->report->stage, STAGE_LOST, __ATOMIC_SEQ_CST);
    /* The descriptors stay open, so whoever touches a missing page waits until the node ends the sandbox. */
    while (1)
        pause();
}

void begin_reading(void)
{
    __atomic_store_n(&shared->report->reading, 1, __ATOMIC_SEQ_CST);
}

void end_reading(void)
{
    __atomic_store_n(&shared->report->reading, 0, __ATOMIC_SEQ_CST);
}

static int is_lost(void)
{
    return __atomic_load_n(&shared->report->stage, __ATOMIC_SEQ_CST) == STAGE_LOST;
}

/* ---- two processes ------------------------------------------------------------------------------------------------- */

/* A process with the same descriptors, and a copy of everything else. */
static pid_t split(void)
{
    return (pid_t)syscall(SYS_clone, (unsigned long)(CLONE_FILES | SIGCHLD), 0ul, 0ul, 0ul, 0ul);
}

static int watch(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* For the next restore from the same pages, which begins with these. */
static void save_touched(void)
{
    size_t bytes = shared->touched_count * sizeof *shared->touched;
    if (write(shared->list, shared->touched, bytes) != (ssize_t)bytes && ftruncate(shared->list, 0))
        shared->touched_count = 0; /* The next restore begins anywhere. */
}

static void become_filler(int successor)
{
    shared->report->filler = (int32_t)syscall(SYS_getpid);
    if (shared->report->stage >= STAGE_FILLING)
        drop_privileges();
    if (successor)
        take_over();
    /* The holder may have ended before this line: then this is not its number. */
    serve(watch(shared->report->holder));
    save_touched();
    __atomic_store_n(&shared->report->stage, STAGE_DONE, __ATOMIC_SEQ_CST);
    _exit(0);
}

/* Waits for the end of the filler, and gives the work to another. */
static void hold(pid_t filler)
{
    int end = watch(filler), dropped = 0;
    while (1) {
        struct pollfd seen[] = {{.fd = end, .events = POLLIN}, {.fd = dropped ? -1 : shared->ready, .events = POLLIN}};
        if (poll(seen, 2, end < 0 ? 10 : -1) < 0 && errno != EINTR)
            continue;
        if (!dropped && seen[1].revents) {
            drop_privileges();
            dropped = 1;
        }
        waitpid(filler, NULL, WNOHANG);
        int over = end < 0 ? kill(filler, 0) && errno == ESRCH : seen[0].revents != 0;
        if (!over)
            continue;
        close(end);
        if (shared->report->stage == STAGE_DONE)
            _exit(0);
        if (shared->report->stage == STAGE_WAITING && !shared->report->reading)
            _exit(0); /* No CRIU came. */
        if (is_lost())
            lose("%s", "its filler ended");
        if (__atomic_load_n(&shared->report->reading, __ATOMIC_SEQ_CST))
            lose("its filler was ended while it read what the sandbox does to its memory");
        if (shared->report->successors++ == MOST_SUCCESSORS)
            lose("its filler ended %d times", MOST_SUCCESSORS);
        filler = split();
        if (filler < 0)
            lose("there is no second filler: %s", strerror(errno));
        if (!filler)
            become_filler(1);
        end = watch(filler);
    }
}

/* The holder is gone: the filler makes another, which waits for the end of a process that is not its child. */
static int replace_holder(void)
{
    pid_t filler = (pid_t)syscall(SYS_getpid), holder = split();
    if (holder < 0)
        lose("there is no second holder: %s", strerror(errno));
    if (!holder) {
        shared->report->holder = (int32_t)syscall(SYS_getpid);
        hold(filler);
    }
    shared->report->holder = holder;
    return watch(holder);
}

/* ---- the filler's work --------------------------------------------------------------------------------------------- */

static uint64_t microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* How long to wait for something to be said, in milliseconds: until the next step of the background. */
static int patience(int filling, uint64_t next)
{
    uint64_t now = microseconds();
    if (faults_wait())
        return 1;
    if (filling)
        return next > now ? (int)((next - now + 999) / 1000) : 0;
    return shared->listener >= 0 ? CONNECT_LIMIT : -1;
}

void serve(int other)
{
    static struct pollfd seen[MOST_TASKS + 3];
    static int tasks[MOST_TASKS];
    uint64_t next = 0;
    while (1) {
        int filling = shared->report->stage == STAGE_FILLING, count = 0;
        for (int i = 0; i < shared->task_count; i++)
            if (shared->tasks[i].live) {
                tasks[count] = i;
                seen[count++] = (struct pollfd){.fd = shared->tasks[i].descriptor, .events = POLLIN};
            }
        if (filling && !count)
            return;
        seen[count] = (struct pollfd){.fd = other, .events = POLLIN};
        seen[count + 1] = (struct pollfd){.fd = shared->connection, .events = POLLIN};
        seen[count + 2] = (struct pollfd){.fd = shared->listener, .events = POLLIN};
        int found = poll(seen, (nfds_t)count + 3, patience(filling, next));
        if (found == 0 && shared->listener >= 0)
            _exit(0);
        if (found > 0) {
            for (int i = 0; i < count; i++)
                if (seen[i].revents && shared->tasks[tasks[i]].live)
                    hear(&shared->tasks[tasks[i]]);
            if (seen[count].revents) {
                close(other);
                other = replace_holder();
            }
            if (seen[count + 1].revents)
                hear_criu();
            if (seen[count + 2].revents)
                meet_criu();
        }
        answer();
        /* Whatever is said, so that nobody keeps the rest from coming in by saying much. */
        if (filling && microseconds() >= next) {
            uint64_t before = shared->report->copied;
            fill_some();
            next = shared->report->copied > before ? microseconds() + shared->rest : 0;
        }
    }
}

/* ---- start --------------------------------------------------------------------------------------------------------- */

struct plan {
    const char *images, *work, *report, *first, *touched;
    unsigned long uid, rest;
};

static struct plan parse(int argc, char **argv)
{
    struct plan plan = {0};
    int i = 0;
    for (; i + 1 < argc && strcmp(argv[i], "--"); i += 2) {
        if (!strcmp(argv[i], "--images"))
            plan.images = argv[i + 1];
        else if (!strcmp(argv[i], "--work"))
            plan.work = argv[i + 1];
        else if (!strcmp(argv[i], "--report"))
            plan.report = argv[i + 1];
        else if (!strcmp(argv[i], "--first"))
            plan.first = argv[i + 1];
        else if (!strcmp(argv[i], "--touched"))
            plan.touched = argv[i + 1];
        else if (!strcmp(argv[i], "--uid"))
            plan.uid = parse_number(argv[i + 1], "fill: --uid");
        else if (!strcmp(argv[i], "--rest"))
            plan.rest = parse_number(argv[i + 1], "fill: --rest");
        else
            refuse("fill: unknown argument %s", argv[i]);
    }
    if (!plan.images || !plan.work || !plan.report || !plan.touched || !plan.uid)
        refuse("usage: cay-guest fill --images DIR --work DIR --report FILE --touched FILE --uid N "
               "[--first FILE] [--rest MICROSECONDS] [-- GROUP...]");
    return plan;
}

static void *map_shared(size_t size, int flags, int file)
{
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | flags, file, 0);
    if (map == MAP_FAILED)
        die("fill: map memory");
    return map;
}

static void prepare(const struct plan *plan)
{
    shared = map_shared(sizeof *shared, MAP_ANONYMOUS | MAP_NORESERVE, -1);
    shared->page = (uint64_t)sysconf(_SC_PAGESIZE);
    shared->uid = plan->uid;
    shared->rest = (unsigned)plan->rest;
    shared->connection = -1;
    make_lists();
    int device = open(DEVICE, O_RDWR | O_CLOEXEC);
    if (device < 0)
        die("fill: open %s", DEVICE);
    close(device);
    int report = open(plan->report, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (report < 0 || ftruncate(report, sizeof *shared->report))
        die("fill: make %s", plan->report);
    shared->report = map_shared(sizeof *shared->report, 0, report);
    close(report);
    shared->report->version = VERSION;
    shared->report->stage = STAGE_WAITING;
    shared->images = open(plan->images, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (shared->images < 0)
        die("fill: open %s", plan->images);
    shared->first = plan->first ? open(plan->first, O_RDONLY | O_CLOEXEC) : -1;
    shared->list = open(plan->touched, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (shared->list < 0)
        die("fill: make %s", plan->touched);
}

/* The caller's limits for this program. */
static void enter_groups(char **files)
{
    for (; *files; files++) {
        int file = open(*files, O_WRONLY | O_CLOEXEC);
        if (file < 0 || write(file, "0", 1) != 1)
            die("fill: enter %s", *files);
        close(file);
    }
}

int run_fill(int argc, char **argv)
{
    struct plan plan = parse(argc, argv);
    int groups = 0;
    while (groups < argc && strcmp(argv[groups], "--"))
        groups++;
    prepare(&plan);
    listen_for_criu(plan.work);
    enter_groups(argv + (groups < argc ? groups + 1 : argc));
    shared->ready = (int)syscall(SYS_eventfd2, 0, O_CLOEXEC | O_NONBLOCK);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (shared->ready < 0 || null < 0)
        die("fill: make descriptors");
    pid_t child = fork();
    if (child < 0)
        die("fill: fork");
    if (child)
        _exit(0); /* CRIU can connect. */
    setsid();
    stay();
    dup2(null, 0);
    dup2(null, 1);
    dup2(null, 2);
    close(null);
    shared->report->holder = (int32_t)syscall(SYS_getpid);
    pid_t filler = split();
    if (filler < 0)
        lose("there is no filler: %s", strerror(errno));
    if (!filler)
        become_filler(0);
    hold(filler);
    return 0;
}
