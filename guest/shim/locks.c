#include "shim.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

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

void note_traced(pid_t pid)
{
    if (task_count < MOST_TASKS)
        tasks[task_count++] = pid;
}

void take_locks(ptrace_call real)
{
    if (!notes || !notes->count)
        return;
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
