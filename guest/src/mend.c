/* Repairs connections of processes whose dump was interrupted: CRIU switches them to repair mode while it reads them,
 * and a killed CRIU does not switch them back. */
#include "cay.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void mend_socket(int socket)
{
    int protocol = 0, repaired = 0, off = TCP_REPAIR_OFF;
    socklen_t length = sizeof protocol;
    if (getsockopt(socket, SOL_SOCKET, SO_PROTOCOL, &protocol, &length) || protocol != IPPROTO_TCP)
        return;
    length = sizeof repaired;
    if (getsockopt(socket, IPPROTO_TCP, TCP_REPAIR, &repaired, &length) || !repaired)
        return;
    if (setsockopt(socket, IPPROTO_TCP, TCP_REPAIR, &off, sizeof off))
        die("mend: a connection stays aside");
}

/* Processes that end and connections that close meanwhile need no repair. */
static void mend_process(int pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *descriptors = opendir(path);
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    for (struct dirent *each; descriptors && process >= 0 && (each = readdir(descriptors));) {
        int socket = (int)syscall(SYS_pidfd_getfd, process, atoi(each->d_name), 0);
        if (socket >= 0) {
            mend_socket(socket);
            close(socket);
        }
    }
    if (descriptors)
        closedir(descriptors);
    if (process >= 0)
        close(process);
}

/* Reads pids from stdin, one per line. */
int run_mend(int argc, char **argv)
{
    (void)argv;
    if (argc)
        refuse("usage: cay-guest mend < PIDS");
    char line[32];
    while (fgets(line, sizeof line, stdin))
        mend_process(atoi(line));
    return 0;
}
