/* The modes that are no probes. */
#include "probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* Exchanges DIRECTORY/a (a directory with a file `f`) and DIRECTORY/b (a link to TARGET) until it is ended. */
int run_swap(int argc, char **argv)
{
    if (argc != 2 || chdir(argv[0]))
        return 2;
    mkdir("a", 0777);
    if (symlink(argv[1], "b") && errno != EEXIST)
        return 2;
    int fd = open("a/f", O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || write(fd, "inside", 6) != 6)
        return 2;
    close(fd);
    puts("swapping");
    fflush(stdout);
    while (!syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "b", 2u))
        ;
    return 0;
}

static void lay(const char *target)
{
    mkdir("a", 0777);
    mkdir("a/s", 0777);
    static const char *const files[] = {"a/f", "a/s/f"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int fd = open(files[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 && write(fd, "inside", 6) != 6)
            errno = 0;
        if (fd >= 0)
            close(fd);
    }
    if (symlink(target, "b") || symlink(target, "a/t") || mkfifo("p", 0666))
        errno = 0;
}

/* Whatever lies there is in nobody's way any more. */
static void clear_away(const char *name, unsigned long number)
{
    char old[32];
    snprintf(old, sizeof old, "old%lu", number % 1000);
    if (unlink(name) && rename(name, old))
        errno = 0;
}

/* Lets the things in DIRECTORY change places until it is ended: a directory, links to TARGET, files, a pipe. What others
 * take away is laid there again. */
int run_juggle(int argc, char **argv)
{
    static const char *const pairs[][2] = {{"a", "b"},     {"a", "b"},     {"a/s", "a/t"}, {"a/s", "a/t"},
                                           {"a", "p"},     {"a", "p"},     {"a/f", "p"},   {"a/f", "p"},
                                           {"a/f", "a/t"}, {"a/f", "a/t"}, {"a", "b"},     {"a", "b"}};
    alarm(3600);
    if (argc != 2)
        return 2;
    mkdir(argv[0], 0777);
    if (chdir(argv[0]))
        return 2;
    lay(argv[1]);
    puts("juggling");
    fflush(stdout);
    for (unsigned long i = 0;; i++) {
        const char *const *pair = pairs[i % (sizeof pairs / sizeof *pairs)];
        int missed = syscall(SYS_renameat2, AT_FDCWD, pair[0], AT_FDCWD, pair[1], 2u) != 0;
        if (i % 4096 == 4095) {
            static const char *const all[] = {"a", "b", "p"};
            for (size_t n = 0; n < sizeof all / sizeof *all; n++)
                clear_away(all[n], i / 4096 * 3 + n);
            missed = 1;
        }
        if (missed) {
            mkdir(argv[0], 0777);
            /* If it was taken away again, the next round makes it. */
            if (!chdir(argv[0]))
                lay(argv[1]);
        }
    }
}

static int listen_on(int port)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons((unsigned short)port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = address.sin6_port};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), both = 0, yes = 1;
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof both);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (fd >= 0 && !bind(fd, (struct sockaddr *)&address, sizeof address) && !listen(fd, 64))
        return fd;
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    return fd < 0 || bind(fd, (struct sockaddr *)&four, sizeof four) || listen(fd, 64) ? -1 : fd;
}

/* Waits to be reached: on a port of all addresses and on an abstract unix address. Nobody is waited for longer than
 * half an hour, should the one who started it be killed. */
int run_server(int argc, char **argv)
{
    alarm(1800);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (argc != 2 || strlen(argv[1]) > 100)
        return 2;
    size_t length = strlen(argv[1]);
    memcpy(address.sun_path + 1, argv[1], length);
    int unix_socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), port = listen_on(atoi(argv[0]));
    if (port < 0
        || bind(unix_socket, (struct sockaddr *)&address,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length))
        || listen(unix_socket, 64))
        return 2;
    puts("serving");
    fflush(stdout);
    struct pollfd wait[2] = {{.fd = port, .events = POLLIN}, {.fd = unix_socket, .events = POLLIN}};
    while (poll(wait, 2, -1) >= 0)
        for (int i = 0; i < 2; i++)
            if (wait[i].revents & POLLIN)
                close(accept(wait[i].fd, NULL, NULL));
    return 0;
}

int run_name_server(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(argv[1]))}, peer;
    unsigned char message[1024], address[4];
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (inet_pton(AF_INET, argv[0], &own.sin_addr) != 1 || inet_pton(AF_INET, argv[2], address) != 1
        || bind(fd, (struct sockaddr *)&own, sizeof own))
        return 2;
    alarm(1800);
    puts("answering");
    fflush(stdout);
    while (1) {
        socklen_t length = sizeof peer;
        ssize_t got = recvfrom(fd, message, 512, 0, (struct sockaddr *)&peer, &length);
        printf("from %s\n", inet_ntoa(peer.sin_addr));
        fflush(stdout);
        if (got < 17)
            continue;
        /* The question stays; one answer refers to its name. */
        static const unsigned char record[] = {0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4};
        size_t end = 12;
        while (end < (size_t)got && message[end])
            end += message[end] + 1u;
        end += 5;
        if (end > (size_t)got)
            continue;
        message[2] = 0x81;
        message[3] = 0x80;
        memset(message + 6, 0, 6);
        message[7] = 1;
        memcpy(message + end, record, sizeof record);
        memcpy(message + end + sizeof record, address, 4);
        sendto(fd, message, end + sizeof record + 4, 0, (struct sockaddr *)&peer, length);
    }
}
