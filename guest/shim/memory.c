#include "../src/cay.h"
#include "shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define LAZY_SOCKET "lazy-pages.socket"
#define DEVICE "/dev/userfaultfd"

/* Seconds. The filler sends it at once. */
#define PATIENCE 10

/* Where the search for a number begins: above those that CRIU gives its own in a process with few descriptors. */
#define DEVICE_FROM 1019

/* The device's number in this process; 0 without one. A process that CRIU forks has the same. */
static int device;

void make_way(int number)
{
    if (!device || number != device)
        return;
    int moved = (int)syscall(SYS_fcntl, device, F_DUPFD_CLOEXEC, device + 1);
    syscall(SYS_close, device);
    device = moved < 0 ? 0 : moved;
}

/* Not 0 in CRIU's first process alone: the page is empty in all that it forks. */
static char *first;

__attribute__((constructor)) static void mark_first(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *made = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED || madvise(made, page, MADV_WIPEONFORK))
        return;
    *made = 1;
    first = made;
}

static int is_device(int fd)
{
    struct stat status, known;
    return !fstat(fd, &status) && !stat(DEVICE, &known) && S_ISCHR(status.st_mode) && status.st_rdev == known.st_rdev;
}

/* Whether the other end is a program of the host's root. */
static int is_ours(int connection)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    return !getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) && peer.uid == 0 && peer.pid > 0;
}

static void limit_wait(int connection, time_t seconds)
{
    struct timeval limit = {.tv_sec = seconds};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

static void receive_device(int connection)
{
    limit_wait(connection, PATIENCE);
    int got = receive_descriptor(connection);
    limit_wait(connection, 0);
    int kept = got < 0 || !is_device(got) ? -1 : (int)syscall(SYS_fcntl, got, F_DUPFD_CLOEXEC, DEVICE_FROM);
    if (got >= 0)
        syscall(SYS_close, got);
    if (kept >= 0)
        device = kept;
}

/* Programs in the sandbox have connections too, which CRIU's other processes make again, to names that these programs
 * chose. The connection to the filler is the first process's, and is made once. */
static int is_filler(const struct sockaddr *address, socklen_t length)
{
    const struct sockaddr_un *place = (const struct sockaddr_un *)address;
    size_t name = sizeof LAZY_SOCKET - 1;
    return first && *first && address->sa_family == AF_UNIX && length == offsetof(struct sockaddr_un, sun_path) + name
        && !memcmp(place->sun_path, LAZY_SOCKET, name);
}

EXPORTED int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    int result = (int)syscall(SYS_connect, fd, address, length);
    if (!result && is_filler(address, length)) {
        *first = 0;
        if (is_ours(fd))
            receive_device(fd);
    }
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
