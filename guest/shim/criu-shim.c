/* Preloaded into CRIU, so that versions before 4.2 work on newer kernels. May go when CRIU 4.2 is the oldest supported.
 *
 * 1. From 6.16 on the kernel refuses SO_PASSCRED and SO_PASSSEC on sockets that are not unix sockets, and CRIU takes
 *    that for a failed dump of every internet socket. The answer it wants to hear is "off".
 * 2. From 6.13 on x86 kernels show the clock pages beside [vvar] as [vvar_vclock], which CRIU before 4.1 does not know.
 *    It is shown both as one [vvar]; a restore moves that in one piece, which kernels can do from 6.17 on.
 * 3. Processors with AMX have more registers than the 4 KiB that CRIU reads of them, and the kernel takes all or none
 *    back: without help no process with threads could be saved. What CRIU leaves out it has not changed either.
 * 4. CRIU gives a process its POSIX locks first, and then maps its files and closes what it mapped them by, which drops
 *    all locks that the process has on these files. SQLite locks a file it has mapped: it would run on without, and
 *    the next process to open the database would cut that file off under it. So the locks are noted, and taken again
 *    just before the first process goes on.
 * 5. A process that is restored without its memory makes a userfaultfd, in the sandbox's user namespace, where the
 *    kernel refuses that. Cay's filler sends /dev/userfaultfd as the first thing on the connection for lazy pages. It
 *    stays open at a number that CRIU does not use; each process makes its userfaultfd by it and closes it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int getsockopt(int fd, int level, int name, void *restrict value, socklen_t *restrict length)
{
    long result = syscall(SYS_getsockopt, fd, level, name, value, length);
    if (result < 0 && errno == EOPNOTSUPP && level == SOL_SOCKET && (name == SO_PASSCRED || name == SO_PASSSEC)) {
        memset(value, 0, *length);
        return 0;
    }
    return (int)result;
}

typedef long (*ptrace_call)(int request, pid_t pid, void *address, void *data);

/* Sets the first part of the registers and leaves the rest as it is. */
static long set_part(ptrace_call real, pid_t pid, const struct iovec *part)
{
    _Alignas(64) char all[1 << 16];
    struct iovec whole = {.iov_base = all, .iov_len = sizeof all};
    if (real(PTRACE_GETREGSET, pid, (void *)NT_X86_XSTATE, &whole) < 0)
        return -1;
    if (part->iov_len >= whole.iov_len) {
        errno = EFAULT;
        return -1;
    }
    memcpy(all, part->iov_base, part->iov_len);
    return real(PTRACE_SETREGSET, pid, (void *)NT_X86_XSTATE, &whole);
}

/* ---- missing memory ------------------------------------------------------------------------------------------------ */

#define LAZY_SOCKET "lazy-pages.socket"
#define MISC_MAJOR 10

/* Where the search for a number begins: above those that CRIU gives its own in a process with few descriptors. */
#define DEVICE_FROM 1019

/* The device's number in this process; 0 without one. A process that CRIU forks has the same. */
static int device;

/* Gives the number to whoever wants it. */
static void make_way(int number)
{
    if (!device || number != device)
        return;
    int moved = (int)syscall(SYS_fcntl, device, F_DUPFD_CLOEXEC, device + 1);
    syscall(SYS_close, device);
    device = moved < 0 ? 0 : moved;
}

static int is_device(int fd)
{
    struct stat status;
    return !fstat(fd, &status) && S_ISCHR(status.st_mode) && major(status.st_rdev) == MISC_MAJOR;
}

static void receive_device(int connection)
{
    char byte;
    struct iovec part = {&byte, 1};
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    int got = -1;
    if (recvmsg(connection, &message, MSG_CMSG_CLOEXEC) != 1)
        return;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof got))
        memcpy(&got, CMSG_DATA(header), sizeof got);
    int kept = got < 0 || !is_device(got) ? -1 : (int)syscall(SYS_fcntl, got, F_DUPFD_CLOEXEC, DEVICE_FROM);
    if (got >= 0)
        syscall(SYS_close, got);
    if (kept >= 0)
        device = kept;
}

EXPORTED int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    const struct sockaddr_un *place = (const struct sockaddr_un *)address;
    size_t name = sizeof LAZY_SOCKET - 1;
    int result = (int)syscall(SYS_connect, fd, address, length);
    if (!result && address->sa_family == AF_UNIX && length >= offsetof(struct sockaddr_un, sun_path) + name
        && !memcmp(place->sun_path, LAZY_SOCKET, name))
        receive_device(fd);
    return result;
}

/* CRIU closes what it does not know. */
EXPORTED int close(int fd)
{
    return device && fd == device ? 0 : (int)syscall(SYS_close, fd);
}

EXPORTED int dup2(int fd, int number)
{
    make_way(number);
    return fd == number ? (syscall(SYS_fcntl, fd, F_GETFD) < 0 ? -1 : fd) : (int)syscall(SYS_dup3, fd, number, 0);
}

EXPORTED int dup3(int fd, int number, int flags)
{
    make_way(number);
    return (int)syscall(SYS_dup3, fd, number, flags);
}

typedef long (*system_call)(long number, long, long, long, long, long, long);

EXPORTED long syscall(long number, ...)
{
    static system_call real;
    long arguments[6];
    va_list more;
    va_start(more, number);
    for (int i = 0; i < 6; i++)
        arguments[i] = va_arg(more, long);
    va_end(more);
    if (!real)
        real = (system_call)dlsym(RTLD_NEXT, "syscall");
    long result = real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
    if (number != SYS_userfaultfd || !device)
        return result;
    int used = device;
    device = 0;
    if (result < 0)
        result = ioctl(used, USERFAULTFD_IOC_NEW, arguments[0]);
    int reason = errno;
    real(SYS_close, used, 0, 0, 0, 0, 0);
    errno = reason;
    return result;
}

/* ---- locks --------------------------------------------------------------------------------------------------------- */

#define MOST_LOCKS 4096
#define MOST_TASKS 4096

struct noted_lock {
    pid_t owner; /* its number in the sandbox */
    int fd;
    struct flock lock;
};

/* Processes are restored in children of the one that lets them go, so they share this. */
static struct {
    int count;
    struct noted_lock locks[MOST_LOCKS];
} *notes;

/* Whom this process traces. */
static pid_t tasks[MOST_TASKS];
static int task_count;

__attribute__((constructor)) static void make_notes(void)
{
    void *made = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    notes = made == MAP_FAILED ? NULL : made;
}

EXPORTED int fcntl64(int fd, int command, ...)
{
    va_list more;
    va_start(more, command);
    void *argument = va_arg(more, void *);
    va_end(more);
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
        make_way((int)(long)argument);
    int (*real)(int, int, ...) = (int (*)(int, int, ...))dlsym(RTLD_NEXT, "fcntl64");
    int result = real(fd, command, argument);
    if (result == 0 && notes && (command == F_SETLK || command == F_SETLKW)) {
        int at = __atomic_fetch_add(&notes->count, 1, __ATOMIC_RELAXED);
        if (at < MOST_LOCKS)
            notes->locks[at] = (struct noted_lock){
                .owner = (pid_t)syscall(SYS_getpid), .fd = fd, .lock = *(struct flock *)argument};
    }
    return result;
}

/* A process's number in its own namespace; 0 for a thread that is not its first. */
static pid_t number_inside(pid_t pid)
{
    char path[64], line[256];
    pid_t group = 0, inside = 0;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file)) {
        if (!strncmp(line, "Tgid:", 5))
            group = atoi(line + 5);
        else if (!strncmp(line, "NSpid:", 6))
            inside = atoi(strrchr(line, '\t') + 1);
    }
    fclose(file);
    return group == pid ? inside : 0;
}

#if defined(__x86_64__)
typedef struct user_regs_struct registers;
static const unsigned char SYSCALL[] = {0x0f, 0x05};
#define PROGRAM_COUNTER(r) ((r).rip)
#define STACK_POINTER(r) ((r).rsp)
#define RESULT(r) ((long)(r).rax)

static void prepare(registers *r, long number, long first, long second, long third)
{
    r->orig_rax = (unsigned long)-1;
    r->rax = (unsigned long)number;
    r->rdi = (unsigned long)first;
    r->rsi = (unsigned long)second;
    r->rdx = (unsigned long)third;
}
#elif defined(__aarch64__)
typedef struct user_regs_struct registers;
static const unsigned char SYSCALL[] = {0x01, 0x00, 0x00, 0xd4};
#define PROGRAM_COUNTER(r) ((r).pc)
#define STACK_POINTER(r) ((r).sp)
#define RESULT(r) ((long)(r).regs[0])

static void prepare(registers *r, long number, long first, long second, long third)
{
    r->regs[8] = (unsigned long)number;
    r->regs[0] = (unsigned long)first;
    r->regs[1] = (unsigned long)second;
    r->regs[2] = (unsigned long)third;
}
#endif

/* Where a traced process has an instruction that calls the kernel; 0 if nowhere. */
static unsigned long find_syscall(pid_t pid)
{
    char path[64], line[512];
    unsigned long begin = 0, end = 0, found = 0;
    static unsigned char text[1 << 16];
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (strstr(line, "[vdso]") && sscanf(line, "%lx-%lx", &begin, &end) == 2)
            break;
    if (file)
        fclose(file);
    if (end - begin > sizeof text)
        end = begin + sizeof text;
    struct iovec here = {text, end - begin}, there = {(void *)begin, end - begin};
    ssize_t got = end > begin ? process_vm_readv(pid, &here, 1, &there, 1, 0) : 0;
    for (ssize_t i = 0; !found && i + (ssize_t)sizeof SYSCALL <= got; i += sizeof SYSCALL == 2 ? 1 : 4)
        if (!memcmp(text + i, SYSCALL, sizeof SYSCALL))
            found = begin + (unsigned long)i;
    return found;
}

static long step(ptrace_call real, pid_t pid, registers *r)
{
    struct iovec place = {r, sizeof *r};
    unsigned long end = PROGRAM_COUNTER(*r) + sizeof SYSCALL;
    int status;
    if (real(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &place) < 0)
        return -1;
    for (int tries = 0; tries < 8; tries++) {
        if (real(PTRACE_SINGLESTEP, pid, NULL, NULL) < 0 || waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
            return -1;
        if (real(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &place) < 0)
            return -1;
        if (PROGRAM_COUNTER(*r) == end)
            return RESULT(*r);
    }
    return -1;
}

/* Lets a stopped process take a lock. All else of it stays as it was: the lock lies for a moment where its stack is. */
static void take(ptrace_call real, pid_t pid, unsigned long instruction, const struct noted_lock *noted)
{
    registers saved, changed;
    struct flock lock = noted->lock, under;
    struct iovec place = {&saved, sizeof saved};
    unsigned long mask, all = ~0UL;
    /* A program for 32 bits has fewer. */
    if (real(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &place) < 0 || place.iov_len != sizeof saved
        || real(PTRACE_GETSIGMASK, pid, (void *)sizeof mask, &mask) < 0)
        return;
    struct iovec there = {(void *)(STACK_POINTER(saved) & ~15UL), sizeof lock};
    struct iovec from = {&under, sizeof under}, to = {&lock, sizeof lock};
    if (process_vm_readv(pid, &from, 1, &there, 1, 0) != sizeof under
        || process_vm_writev(pid, &to, 1, &there, 1, 0) != sizeof lock)
        return;
    changed = saved;
    prepare(&changed, SYS_fcntl, noted->fd, F_SETLK, (long)there.iov_base);
    PROGRAM_COUNTER(changed) = instruction;
    real(PTRACE_SETSIGMASK, pid, (void *)sizeof all, &all);
    if (step(real, pid, &changed) < 0)
        fprintf(stderr, "Warn  (shim): process %d did not get its lock on descriptor %d again\n", pid, noted->fd);
    process_vm_writev(pid, &from, 1, &there, 1, 0);
    real(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &place);
    real(PTRACE_SETSIGMASK, pid, (void *)sizeof mask, &mask);
}

/* Once, when all are restored and stopped. */
static void take_locks(ptrace_call real)
{
    int count = notes->count < MOST_LOCKS ? notes->count : MOST_LOCKS;
    notes->count = 0;
    for (int i = 0; i < task_count; i++) {
        pid_t inside = number_inside(tasks[i]);
        unsigned long instruction = 0;
        for (int j = 0; inside && j < count; j++) {
            if (notes->locks[j].owner != inside)
                continue;
            if (!instruction && !(instruction = find_syscall(tasks[i])))
                break;
            take(real, tasks[i], instruction, &notes->locks[j]);
        }
    }
}

/* ---- tracing ------------------------------------------------------------------------------------------------------- */

EXPORTED long ptrace(enum __ptrace_request request, ...)
{
    va_list more;
    va_start(more, request);
    pid_t pid = va_arg(more, pid_t);
    void *address = va_arg(more, void *);
    void *data = va_arg(more, void *);
    va_end(more);
    ptrace_call real = (ptrace_call)dlsym(RTLD_NEXT, "ptrace");
    if (request == PTRACE_DETACH && notes && notes->count > 0)
        take_locks(real);
    long result = real((int)request, pid, address, data);
    if (request == PTRACE_SEIZE && result >= 0 && task_count < MOST_TASKS)
        tasks[task_count++] = pid;
    if (result < 0 && errno == EFAULT && request == PTRACE_SETREGSET && address == (void *)NT_X86_XSTATE)
        return set_part(real, pid, data);
    return result;
}

/* ---- lists of mappings --------------------------------------------------------------------------------------------- */

static char *read_all(int fd, size_t *length)
{
    size_t room = 1 << 16;
    char *text = malloc(room + 1);
    ssize_t got;
    *length = 0;
    while (text && (got = read(fd, text + *length, room - *length)) > 0) {
        *length += (size_t)got;
        if (*length == room) {
            room *= 2;
            char *grown = realloc(text, room + 1);
            if (!grown)
                free(text);
            text = grown;
        }
    }
    if (text)
        text[*length] = 0;
    return text;
}

static char *line_of(char *text, char *within)
{
    while (within > text && within[-1] != '\n')
        within--;
    return within;
}

/* In smaps a head line is followed by lines like "Size: 16 kB", which begin with a capital letter. */
static char *next_head(char *line)
{
    do {
        line = strchr(line, '\n');
        if (!line)
            return NULL;
        line++;
    } while (*line >= 'A' && *line <= 'Z');
    return line;
}

/* Gives the area before [vvar_vclock] the latter's end, and takes the latter's lines out. */
static void join_areas(char *text, size_t *length)
{
    char *name = strstr(text, "[vvar_vclock]\n"), *before = strstr(text, "[vvar]\n");
    if (!name || !before)
        return;
    char *gone = line_of(text, name), *kept = line_of(text, before), *rest = next_head(gone);
    char *gone_end = strchr(gone, '-'), *kept_end = strchr(kept, '-');
    if (!gone_end || !kept_end || next_head(kept) != gone)
        return;
    size_t digits = strcspn(gone_end, " ");
    if (digits != strcspn(kept_end, " "))
        return;
    memcpy(kept_end, gone_end, digits);
    size_t left = rest ? *length - (size_t)(rest - text) : 0;
    if (rest)
        memmove(gone, rest, left + 1);
    *length = (size_t)(gone - text) + left;
}

static int lists_mappings(const char *path, int flags)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return (flags & O_ACCMODE) == O_RDONLY && (!strcmp(name, "maps") || !strcmp(name, "smaps"));
}

/* Puts an edited copy in the place of `fd`. */
static int edited(int fd)
{
    size_t length;
    char *text = read_all(fd, &length);
    if (!text || !strstr(text, "[vvar_vclock]")) {
        free(text);
        lseek(fd, 0, SEEK_SET);
        return fd;
    }
    join_areas(text, &length);
    int copy = memfd_create("maps", MFD_CLOEXEC);
    if (copy < 0 || write(copy, text, length) != (ssize_t)length || lseek(copy, 0, SEEK_SET)
        || dup3(copy, fd, O_CLOEXEC) < 0)
        lseek(fd, 0, SEEK_SET);
    if (copy >= 0)
        close(copy);
    free(text);
    return fd;
}

static int open_at(int directory, const char *path, int flags, mode_t mode)
{
    int fd = (int)syscall(SYS_openat, directory, path, flags, mode);
    return fd >= 0 && lists_mappings(path, flags) ? edited(fd) : fd;
}

EXPORTED int open64(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return open_at(AT_FDCWD, path, flags, mode);
}

EXPORTED int openat64(int directory, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return open_at(directory, path, flags, mode);
}
