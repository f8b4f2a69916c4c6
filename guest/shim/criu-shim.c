/* Preloaded into CRIU. From 6.16 on the kernel refuses SO_PASSCRED and SO_PASSSEC on sockets that are not unix sockets,
 * and CRIU before 4.2 takes that for a failed dump of every internet socket. The answer it wants to hear is "off".
 * May go when CRIU 4.2 is the oldest one supported. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("default"))) int getsockopt(int fd, int level, int name, void *restrict value,
                                                      socklen_t *restrict length)
{
    long result = syscall(SYS_getsockopt, fd, level, name, value, length);
    if (result < 0 && errno == EOPNOTSUPP && level == SOL_SOCKET && (name == SO_PASSCRED || name == SO_PASSSEC)) {
        memset(value, 0, *length);
        return 0;
    }
    return (int)result;
}
