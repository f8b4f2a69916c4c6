/* Makes pipes and terminals block for everybody who shares them. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_DESCRIPTORS 1024

static int worth_taking(int fd)
{
    char link[64], name[64] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return readlink(link, name, sizeof name - 1) > 0 && (!strncmp(name, "pipe:[", 6) || strstr(name, "ptmx"));
}

/* The flag belongs to the open file, not to the number: whoever has it from this process has it changed. */
static int block_all(pid_t pid)
{
    int count = 0, process = (int)syscall(SYS_pidfd_open, pid, 0);
    for (int fd = 3; process >= 0 && fd < MOST_DESCRIPTORS; fd++) {
        int mine = (int)syscall(SYS_pidfd_getfd, process, fd, 0);
        if (mine >= 0 && worth_taking(mine) && !fcntl(mine, F_SETFL, fcntl(mine, F_GETFL) & ~O_NONBLOCK))
            count++;
        if (mine >= 0)
            close(mine);
    }
    return count;
}

static void on_alarm(int number)
{
    (void)number;
}

/* Fills a pipe of its own through an end that was shared and one that was opened anew, after a child made the shared
 * one block. */
static int show_on_self(void)
{
    char link[64], bytes[4096] = "";
    int ends[2], status;
    struct sigaction interrupt = {.sa_handler = on_alarm};
    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC))
        return 2;
    snprintf(link, sizeof link, "/proc/self/fd/%d", ends[1]);
    int anew = open(link, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    pid_t child = fork();
    if (child == 0) {
        /* The end that was opened anew is not what a guest has. */
        close(anew);
        int shared = (int)syscall(SYS_pidfd_getfd, (int)syscall(SYS_pidfd_open, getppid(), 0), ends[1], 0);
        _exit(shared < 0 || fcntl(shared, F_SETFL, fcntl(shared, F_GETFL) & ~O_NONBLOCK));
    }
    if (anew < 0 || child < 0 || waitpid(child, &status, 0) != child || status)
        return 2;
    while (write(anew, bytes, sizeof bytes) > 0)
        ;
    printf("opened anew: %s\n", errno == EAGAIN ? "returns" : "fails");
    sigaction(SIGALRM, &interrupt, NULL);
    alarm(2);
    ssize_t written = write(ends[1], bytes, sizeof bytes);
    printf("shared: %s\n", written < 0 && errno == EINTR ? "waits" : "returns");
    return 0;
}

int run_stall(int argc, char **argv)
{
    if (argc > 1)
        return 2;
    if (!argc)
        return show_on_self();
    printf("blocking %d\n", block_all(atoi(argv[0])));
    return 0;
}
