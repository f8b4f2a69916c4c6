#include "shim.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

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
    if (request == PTRACE_DETACH)
        take_locks(real);
    long result = real((int)request, pid, address, data);
    if (request == PTRACE_SEIZE && result >= 0)
        note_traced(pid);
    if (result < 0 && errno == EFAULT && request == PTRACE_SETREGSET && address == (void *)NT_X86_XSTATE)
        return set_part(real, pid, data);
    return result;
}
