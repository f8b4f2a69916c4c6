#include "shim.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

EXPORTED int getsockopt(int fd, int level, int name, void *restrict value, socklen_t *restrict length)
{
    long result = syscall(SYS_getsockopt, fd, level, name, value, length);
    if (result < 0 && errno == EOPNOTSUPP && level == SOL_SOCKET && (name == SO_PASSCRED || name == SO_PASSSEC)) {
        memset(value, 0, *length);
        return 0;
    }
    return (int)result;
}
