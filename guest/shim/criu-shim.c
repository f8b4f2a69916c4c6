/* Preloaded into CRIU, so that versions before 4.2 work on newer kernels. May go when CRIU 4.2 is the oldest supported.
 *
 * 1. From 6.16 on the kernel refuses SO_PASSCRED and SO_PASSSEC on sockets that are not unix sockets, and CRIU takes
 *    that for a failed dump of every internet socket. The answer it wants to hear is "off".
 * 2. From 6.13 on x86 kernels show the clock pages beside [vvar] as [vvar_vclock], which CRIU before 4.1 does not know.
 *    It is shown both as one [vvar]; a restore moves that in one piece, which kernels can do from 6.17 on.
 * 3. Processors with AMX have more registers than the 4 KiB that CRIU reads of them, and the kernel takes all or none
 *    back: without help no process with threads could be saved. What CRIU leaves out it has not changed either. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
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

EXPORTED long ptrace(enum __ptrace_request request, ...)
{
    va_list more;
    va_start(more, request);
    pid_t pid = va_arg(more, pid_t);
    void *address = va_arg(more, void *);
    void *data = va_arg(more, void *);
    va_end(more);
    ptrace_call real = (ptrace_call)dlsym(RTLD_NEXT, "ptrace");
    long result = real((int)request, pid, address, data);
    if (result < 0 && errno == EFAULT && request == PTRACE_SETREGSET && address == (void *)NT_X86_XSTATE)
        return set_part(real, pid, data);
    return result;
}

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
