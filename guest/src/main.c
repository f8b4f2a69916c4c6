#include "cay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void complain(const char *format, va_list arguments, const char *reason)
{
    char line[1024];
    int used = snprintf(line, sizeof line, "cay-guest: ");
    used += vsnprintf(line + used, sizeof line - (size_t)used, format, arguments);
    if (used > (int)sizeof line - 1)
        used = (int)sizeof line - 1;
    fprintf(stderr, reason ? "%s: %s\n" : "%s\n", line, reason);
}

void die(const char *what, ...)
{
    const char *reason = strerror(errno);
    va_list arguments;
    va_start(arguments, what);
    complain(what, arguments, reason);
    va_end(arguments);
    exit(FAILED);
}

void refuse(const char *what, ...)
{
    va_list arguments;
    va_start(arguments, what);
    complain(what, arguments, NULL);
    va_end(arguments);
    exit(FAILED);
}

unsigned long parse_number(const char *text, const char *what)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno || end == text || *end)
        refuse("%s: not a number: %s", what, text);
    return value;
}

/* Inside a sandbox the program is also installed under this name, as a command for users. */
static int is_called(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    return !strcmp(slash ? slash + 1 : path, name);
}

int main(int argc, char **argv)
{
    if (argc && is_called(argv[0], "mcp-gateway"))
        return run_gateway(argc - 1, argv + 1);
    const char *mode = argc > 1 ? argv[1] : "";
    if (!strcmp(mode, "init"))
        return run_init();
    if (!strcmp(mode, "launch"))
        return run_launch(argc - 2, argv + 2);
    if (!strcmp(mode, "hook"))
        return run_hook(argc - 2, argv + 2);
    if (!strcmp(mode, "boot"))
        return run_boot(argc - 2, argv + 2);
    if (!strcmp(mode, "mend"))
        return run_mend(argc - 2, argv + 2);
    if (!strcmp(mode, "unplug"))
        return run_unplug(argc - 2, argv + 2);
    if (!strcmp(mode, "disk"))
        return run_disk(argc - 2, argv + 2);
    if (!strcmp(mode, "tree"))
        return run_tree(argc - 2, argv + 2);
    if (!strcmp(mode, "fuse"))
        return run_fuse(argc - 2, argv + 2);
    if (!strcmp(mode, "fusermount"))
        return run_fusermount(argc - 1, argv + 1);
    if (!strcmp(mode, "fill"))
        return run_fill(argc - 2, argv + 2);
    refuse("usage: cay-guest init|launch|hook|boot|mend|unplug|disk|tree|fuse|fusermount|fill ...");
}
