#include "probe.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_SECONDS 8
#define MAX_FACTS 32

static const struct probe *const groups[] = {namespace_probes, kernel_probes, file_probes, outside_probes, network_probes};
static const char *facts[MAX_FACTS];
static int fact_count;
static const char *current = "";

static void quote(const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar((unsigned char)*text < ' ' ? ' ' : *text);
    }
}

static void say(const char *outcome, const char *detail)
{
    printf("{\"probe\":\"%s\",\"outcome\":\"%s\",\"detail\":\"", current, outcome);
    quote(detail);
    printf("\"}\n");
    fflush(stdout);
}

#define END_WITH(outcome)                                                                                              \
    char text[512];                                                                                                    \
    va_list arguments;                                                                                                 \
    va_start(arguments, detail);                                                                                       \
    vsnprintf(text, sizeof text, detail, arguments);                                                                   \
    va_end(arguments);                                                                                                 \
    say(outcome, text);                                                                                                \
    _exit(0)

void refused(const char *detail, ...)
{
    END_WITH("refused");
}

void succeeded(const char *detail, ...)
{
    END_WITH("succeeded");
}

void unclear(const char *detail, ...)
{
    END_WITH("error");
}

void judge(const char *what, long result)
{
    if (result >= 0)
        succeeded("%s worked", what);
    if (errno == EPERM || errno == EACCES || errno == EROFS || errno == ENOSYS || errno == ENOSPC)
        refused("%s: %s", what, strerror(errno));
    succeeded("%s was permitted (%s)", what, strerror(errno));
}

void judge_strictly(const char *what, long result)
{
    if (result >= 0)
        succeeded("%s worked", what);
    refused("%s: %s", what, strerror(errno));
}

const char *known(const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; i < fact_count; i++)
        if (!strncmp(facts[i], name, length) && facts[i][length] == '=')
            return facts[i] + length + 1;
    return "";
}

const char *scratch(void)
{
    static char path[64];
    mkdir("/tmp", 01777);
    snprintf(path, sizeof path, "/tmp/cay-probe-%d", getpid());
    if (mkdir(path, 0700) && errno != EEXIST)
        unclear("mkdir %s: %s", path, strerror(errno));
    return path;
}

/* In a process of its own: a probe may block, be killed by the filter, or change what it is. */
static void run(const struct probe *probe)
{
    current = probe->name;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        alarm(LIMIT_SECONDS);
        probe->attempt();
        unclear("said nothing");
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child)
        say("error", "cannot fork");
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
        say("refused", "killed by the system call filter");
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV)
        say("refused", "killed by signal 11: not in this kernel");
    else if (WIFSIGNALED(status)) {
        char text[64];
        snprintf(text, sizeof text, "ended by signal %d", WTERMSIG(status));
        say("error", text);
    }
}

static int wanted(const char *name, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(names[i], name) || !strcmp(names[i], "all"))
            return 1;
    return 0;
}

static int usage(void)
{
    fprintf(stderr, "usage: cay-probe list | cay-probe [FACT=VALUE...] all|PROBE... | cay-probe swap DIRECTORY TARGET"
                    " | cay-probe juggle DIRECTORY TARGET | cay-probe serve PORT ABSTRACT-NAME | cay-probe names ADDRESS PORT ANSWER"
                    " | cay-probe stall [PID] | cay-probe mcp TOOL [ARGUMENT...]"
                    " | cay-probe remember|tear|waylay MEGABYTES DIRECTORY\n");
    return 2;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "swap"))
        return run_swap(argc - 2, argv + 2);
    if (argc > 1 && !strcmp(argv[1], "juggle"))
        return run_juggle(argc - 2, argv + 2);
    if (argc > 1 && !strcmp(argv[1], "serve"))
        return run_server(argc - 2, argv + 2);
    if (argc > 1 && !strcmp(argv[1], "names"))
        return run_name_server(argc - 2, argv + 2);
    if (argc > 1 && !strcmp(argv[1], "stall"))
        return run_stall(argc - 2, argv + 2);
    if (argc > 1 && !strcmp(argv[1], "mcp"))
        return run_mcp(argc - 2, argv + 2);
    if (argc > 1 && !strcmp(argv[1], "remember"))
        return run_remember(argc - 2, argv + 2);
    if (argc > 1 && !strcmp(argv[1], "tear"))
        return run_tear(argc - 2, argv + 2);
    if (argc > 1 && !strcmp(argv[1], "waylay"))
        return run_waylay(argc - 2, argv + 2);
    int first = 1;
    for (; first < argc && strchr(argv[first], '=') && fact_count < MAX_FACTS; first++)
        facts[fact_count++] = argv[first];
    if (first >= argc)
        return usage();
    /* Until the caller has prepared what is around us. */
    if (*known("hold"))
        getchar();
    int list = !strcmp(argv[first], "list"), found = 0;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        for (const struct probe *probe = groups[i]; probe->name; probe++) {
            if (list)
                puts(probe->name);
            else if (wanted(probe->name, argc - first, argv + first))
                run(probe);
            else
                continue;
            found = 1;
        }
    return found ? 0 : usage();
}
