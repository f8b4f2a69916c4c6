/* The command `fusermount3` of sandboxes whose template may have FUSE: asks the node to mount a file system that a
 * program in the sandbox serves. libfuse and others call it in place of the program of that name, which would need the
 * right to mount.
 *
 * The node answers twice: by HTTP, and through a socket that this program listens on. The socket carries the descriptor
 * of the FUSE connection, and shows the node which user asks. */
#include "ask.h"
#include "cay.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define COMMUNICATION "_FUSE_COMMFD"
#define NAME_PREFIX "cay-fuse-"
#define NAME_SIZE (sizeof NAME_PREFIX - 1 + 32)
#define ANSWER_SECONDS 60
#define MOST_OPTIONS 4096

struct fuse_wish {
    char options[MOST_OPTIONS];
    const char *path;
    int unmount, lazy, quiet, socket;
};

/* A random abstract address, which nobody can guess. */
static int listen_for_node(char *name)
{
    unsigned char random[16];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        fail("no random numbers: %s", strerror(errno));
    memcpy(name, NAME_PREFIX, sizeof NAME_PREFIX);
    for (size_t i = 0; i < sizeof random; i++)
        sprintf(name + sizeof NAME_PREFIX - 1 + 2 * i, "%02x", random[i]);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path + 1, name, NAME_SIZE);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + NAME_SIZE);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) || listen(fd, 1))
        fail("cannot listen: %s", strerror(errno));
    return fd;
}

static void ask_for(const char *what, const char *name, const struct fuse_wish *wish)
{
    struct text headers = {0}, body = {0};
    int status;
    /* A header that a web page cannot send without a CORS preflight. */
    add_header(&headers, "Content-Type", "application/x-cay-fuse");
    add(&body, name, strlen(name) + 1);
    add(&body, wish->path, strlen(wish->path) + 1);
    if (wish->unmount)
        add_text(&body, wish->lazy ? "lazy" : "");
    else
        add_text(&body, wish->options);
    ask_node(what, &headers, &body, ANSWER_SECONDS, &status);
}

static int receive_connection(int listener)
{
    struct pollfd wait = {.fd = listener, .events = POLLIN};
    if (poll(&wait, 1, 1000) != 1)
        fail("Cay has mounted it and does not give it to this program");
    int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    int descriptor = connection < 0 ? -1 : receive_descriptor(connection);
    if (descriptor < 0)
        fail("Cay has mounted it and does not give it to this program");
    close(connection);
    return descriptor;
}

/* Passes the descriptor in the form that libfuse expects: with one zero byte. */
static void hand_over(int socket, int descriptor)
{
    if (send_descriptor(socket, descriptor, 0))
        fail("cannot pass the connection on: %s", strerror(errno));
    close(descriptor);
}

static void unmount(const struct fuse_wish *wish)
{
    char name[NAME_SIZE + 1];
    int listener = listen_for_node(name);
    ask_for("/fuse/unmount", name, wish);
    close(listener);
}

/* Waits until the program that serves the file system has ended, then unmounts it. */
static void unmount_at_end(struct fuse_wish *wish)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    setsid();
    if (chdir("/"))
        fail("chdir: %s", strerror(errno));
    char bytes[64];
    ssize_t got;
    do
        got = recv(wish->socket, bytes, sizeof bytes, 0);
    while (got > 0 || (got < 0 && errno == EINTR));
    wish->lazy = 1;
    wish->unmount = 1;
    unmount(wish);
}

static int has_option(const char *options, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = options; (at = strstr(at, name)); at += length)
        if ((at == options || at[-1] == ',') && (!at[length] || at[length] == ','))
            return 1;
    return 0;
}

static void mount_for(struct fuse_wish *wish)
{
    char name[NAME_SIZE + 1];
    int listener = listen_for_node(name);
    ask_for("/fuse/mount", name, wish);
    hand_over(wish->socket, receive_connection(listener));
    close(listener);
    if (has_option(wish->options, "auto_unmount"))
        unmount_at_end(wish);
}

/* Without accessing the file system, because its server may have ended. */
static const char *whole_path(const char *given, int mounted)
{
    static char path[PATH_MAX * 2];
    char parent[PATH_MAX];
    if (!mounted) {
        if (!realpath(given, path))
            fail("%s: %s", given, strerror(errno));
        return path;
    }
    size_t length = strlen(given);
    while (length > 1 && given[length - 1] == '/')
        length--;
    if (length >= PATH_MAX)
        fail("the path is too long");
    memcpy(parent, given, length);
    parent[length] = 0;
    char *slash = strrchr(parent, '/');
    const char *name = slash ? slash + 1 : parent;
    if (!*name || strlen(name) > NAME_MAX || !strcmp(name, ".") || !strcmp(name, ".."))
        fail("%s: the path must end in the name of a directory", given);
    char last[NAME_MAX + 1] = {0};
    memcpy(last, name, strlen(name));
    if (slash)
        slash[slash == parent] = 0;
    if (!realpath(slash ? parent : ".", path))
        fail("%s: %s", given, strerror(errno));
    size_t used = strlen(path);
    snprintf(path + used, sizeof path - used, used > 1 ? "/%s" : "%s", last);
    return path;
}

static void add_options(struct fuse_wish *wish, const char *more)
{
    size_t used = strlen(wish->options);
    int added = snprintf(wish->options + used, sizeof wish->options - used, used ? ",%s" : "%s", more);
    if (added < 0 || (size_t)added >= sizeof wish->options - used)
        fail("the options have more than %d characters", MOST_OPTIONS - 1);
}

static const char usage[] =
    "Usage: fusermount3 [-o OPTION[,OPTION...]] DIRECTORY    mounts; programs call it, by way of " COMMUNICATION "\n"
    "       fusermount3 -u [-z] DIRECTORY                    unmounts; with -z at once, even if it is in use\n"
    "\n"
    "Cay mounts for the sandbox, below directories of the user who asks.\n";

static void read_arguments(int argc, char **argv, struct fuse_wish *wish)
{
    static const struct option names[] = {{"unmount", no_argument, NULL, 'u'}, {"lazy", no_argument, NULL, 'z'},
                                          {"quiet", no_argument, NULL, 'q'},   {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, 'V'}, {"options", required_argument, NULL, 'o'},
                                          {"comm-fd", required_argument, NULL, 'c'}, {0}};
    const char *communication = getenv(COMMUNICATION);
    for (int flag; (flag = getopt_long(argc, argv, "uzqhVo:c:", names, NULL)) != -1;) {
        if (flag == 'u')
            wish->unmount = 1;
        else if (flag == 'z')
            wish->lazy = 1;
        else if (flag == 'q')
            wish->quiet = 1;
        else if (flag == 'o')
            add_options(wish, optarg);
        else if (flag == 'c')
            communication = optarg;
        else if (flag == 'V' || flag == 'h') {
            /* Programs parse the version. */
            printf(flag == 'V' ? "fusermount3 version: 3.14.0 (Cay)\n" : "%s", usage);
            exit(0);
        } else
            exit(1);
    }
    if (optind != argc - 1) {
        fputs(usage, stderr);
        exit(1);
    }
    wish->path = whole_path(argv[optind], wish->unmount);
    if (wish->unmount)
        return;
    if (!communication)
        fail("programs that serve a file system call this program; there is nobody to give the connection to");
    wish->socket = (int)parse_number(communication, COMMUNICATION);
}

int run_fusermount(int argc, char **argv)
{
    struct fuse_wish wish = {0};
    ask_as = "fusermount3";
    read_arguments(argc, argv, &wish);
    if (wish.quiet && !freopen("/dev/null", "w", stderr))
        return 1;
    if (wish.unmount)
        unmount(&wish);
    else
        mount_for(&wish);
    return 0;
}
