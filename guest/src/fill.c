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
 * /dev/userfaultfd and sends it to the shim in CRIU (see shim/criu-shim.c) as the first thing on the connection.
 *
 * When the restore is over, both processes become a user of the sandbox's own range. They keep the userfaultfds, the page
 * files and the report. */
#include "fill.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define VERSION 1
#define DEVICE "/dev/userfaultfd"
/* The name that CRIU knows, in its work directory. */
#define SOCKET "lazy-pages.socket"
/* What CRIU sends in place of a process's number when all are restored. */
#define RESTORED 0x52535446
#define CONNECT_LIMIT (5 * 60 * 1000)
#define MOST_SUCCESSORS 16
#define MOST_DESCRIPTORS 65536

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

static void drop_privileges(void)
{
    if (!shared->uid || getuid())
        return;
    gid_t group = (gid_t)shared->uid;
    uid_t user = (uid_t)shared->uid;
    if (setgroups(0, NULL) || setresgid(group, group, group) || setresuid(user, user, user)
        || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
        lose("its filler keeps its privileges: %s", strerror(errno));
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
        if (is_lost())
            lose("%s", "its filler ended");
        if (shared->report->reading)
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

/* ---- the handshake with CRIU --------------------------------------------------------------------------------------- */

int send_device(int connection)
{
    int device = open(DEVICE, O_RDWR | O_CLOEXEC);
    if (device < 0)
        return -1;
    int failed = send_descriptor(connection, device, 0);
    close(device);
    return failed;
}

static int receive_descriptor(int connection)
{
    char byte;
    struct iovec part = {&byte, 1};
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    int descriptor = -1;
    if (recvmsg(connection, &message, MSG_CMSG_CLOEXEC) <= 0)
        return -1;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof descriptor))
        memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    return descriptor;
}

static void add_task(int origin)
{
    int descriptor = receive_descriptor(shared->connection);
    if (descriptor < 0)
        lose("CRIU did not hand out the memory of process %d", origin);
    if (shared->task_count == MOST_TASKS)
        lose("it has more than %d processes", MOST_TASKS);
    struct task *task = &shared->tasks[shared->task_count++];
    task->descriptor = descriptor;
    task->origin = origin;
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
    read_images(task);
    task->live = 1;
}

static void finish_handshake(void)
{
    uint64_t one = 1;
    close(shared->connection);
    close(shared->images);
    shared->connection = shared->images = -1;
    __atomic_store_n(&shared->report->stage, STAGE_FILLING, __ATOMIC_SEQ_CST);
    if (write(shared->ready, &one, sizeof one) != sizeof one)
        lose("its holder keeps its privileges");
    drop_privileges();
}

/* One message of CRIU: a process and its userfaultfd, a process without memory, or the end of the restore. A filler that
 * ends in the middle of it leaves what nobody can trust, as with an event. */
static void hear_criu(void)
{
    int32_t number;
    shared->report->reading = 1;
    ssize_t got = recv(shared->connection, &number, sizeof number, MSG_WAITALL);
    if (got != sizeof number)
        lose("CRIU ended before it had restored everything");
    if (number == RESTORED)
        finish_handshake();
    else if (number > 0)
        add_task(number);
    shared->report->reading = 0;
}

static void meet_criu(void)
{
    shared->report->reading = 1;
    shared->connection = accept4(shared->listener, NULL, NULL, SOCK_CLOEXEC);
    if (shared->connection < 0 || send_device(shared->connection))
        lose("CRIU cannot be given %s: %s", DEVICE, strerror(errno));
    close(shared->listener);
    shared->listener = -1;
    unlink(SOCKET);
    shared->report->stage = STAGE_RESTORING;
    shared->report->reading = 0;
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
                    answer(&shared->tasks[tasks[i]]);
            if (seen[count].revents) {
                close(other);
                other = replace_holder();
            }
            if (seen[count + 1].revents)
                hear_criu();
            if (seen[count + 2].revents)
                meet_criu();
        }
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

static void listen_for_criu(const char *work)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SOCKET};
    if (chdir(work))
        die("fill: enter %s", work);
    unlink(SOCKET);
    shared->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (shared->listener < 0 || bind(shared->listener, (struct sockaddr *)&address, sizeof address)
        || listen(shared->listener, 1))
        die("fill: listen at %s", SOCKET);
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

/* The kernel must not choose this program when memory is short: its end would be that of a sandbox. */
static void stay(void)
{
    struct rlimit limit;
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score < 0 || write(score, "-1000", 5) != 5)
        shared->report->reason[0] = 0; /* Without that right it is as safe as the daemon. */
    if (score >= 0)
        close(score);
    if (!getrlimit(RLIMIT_NOFILE, &limit)) {
        limit.rlim_cur = limit.rlim_max < MOST_DESCRIPTORS ? limit.rlim_max : MOST_DESCRIPTORS;
        limit.rlim_max = limit.rlim_cur;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    limit = (struct rlimit){0, 0};
    setrlimit(RLIMIT_CORE, &limit);
    limit.rlim_cur = limit.rlim_max = sizeof shared->touched;
    setrlimit(RLIMIT_FSIZE, &limit);
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
