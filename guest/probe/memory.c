/* Programs that know what their memory must hold, for tests of pauses and restores. They are asked by files in a
 * directory: a checker that is asked (`ask`) reads all of its memory, and answers (`told`). */
#include "probe.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ul
#define WORDS (PAGE / sizeof(uint64_t))
/* A place that nothing else uses. */
#define ELSEWHERE ((void *)0x600000000000ul)

static uint64_t *memory;
static unsigned long pages;
/* Pages that were given back, and so are zeros. */
static unsigned char *given_back;

static uint64_t word(unsigned long page, unsigned long at)
{
    uint64_t value = (page + 1) * 0x9e3779b97f4a7c15ul + at * 0xd1b54a32d192ed03ul;
    return value ^ (value >> 29);
}

static int is_wrong(unsigned long page)
{
    const uint64_t *words = memory + page * WORDS;
    for (unsigned long i = 0; i < WORDS; i++)
        if (words[i] != (given_back[page] ? 0 : word(page, i)))
            return 1;
    return 0;
}

static unsigned long wrong(unsigned long from, unsigned long to)
{
    unsigned long count = 0;
    for (unsigned long page = from; page < to; page++)
        count += (unsigned long)is_wrong(page);
    return count;
}

static void fill(const char *megabytes)
{
    pages = strtoul(megabytes, NULL, 10) * ((1ul << 20) / PAGE);
    memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    given_back = calloc(pages, 1);
    if (memory == MAP_FAILED || !given_back)
        exit(1);
    for (unsigned long page = 0; page < pages; page++)
        for (unsigned long i = 0; i < WORDS; i++)
            memory[page * WORDS + i] = word(page, i);
}

static void tell(const char *name, const char *text)
{
    FILE *file = fopen("new", "we");
    if (!file || fputs(text, file) < 0 || fclose(file) || rename("new", name))
        exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* Answers how many pages it looked at, how many were wrong, and how many milliseconds it took. */
int run_remember(int argc, char **argv)
{
    char text[128];
    if (argc != 2 || chdir(argv[1]))
        return 2;
    fill(argv[0]);
    tell("ready", "ready\n");
    while (1) {
        usleep(2000);
        if (unlink("ask"))
            continue;
        double began = now();
        unsigned long found = wrong(0, pages);
        snprintf(text, sizeof text, "%lu pages %lu wrong %.1f ms\n", pages, found, now() - began);
        tell("told", text);
    }
}

/* The same, with a connection to a socket that has the name of the one to which CRIU hands the memory out. */
int run_waylay(int argc, char **argv)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "lazy-pages.socket"};
    int one = socket(AF_UNIX, SOCK_DGRAM, 0), other = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (argc != 2 || chdir(argv[1]))
        return 2;
    unlink(name.sun_path);
    if (bind(one, (struct sockaddr *)&name, sizeof name) || connect(other, (struct sockaddr *)&name, sizeof name)) {
        perror("cay-probe: waylay");
        return 1;
    }
    return run_remember(argc, argv);
}

static void move(unsigned long page, unsigned long count)
{
    void *place = memory + page * WORDS;
    void *moved = mremap(place, count * PAGE, count * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, ELSEWHERE);
    if (moved == MAP_FAILED)
        return;
    volatile uint64_t *look = moved;
    (void)*look;
    if (mremap(moved, count * PAGE, count * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place) == MAP_FAILED)
        exit(1);
}

/* Gives pages back, moves memory and forks as fast as it can; `told` says how often, and how many pages were wrong. */
int run_tear(int argc, char **argv)
{
    char text[128];
    unsigned seed = 7;
    unsigned long rounds = 0, bad = 0;
    if (argc != 2 || chdir(argv[1]))
        return 2;
    fill(argv[0]);
    tell("ready", "ready\n");
    while (access("ask", F_OK))
        usleep(2000);
    while (1) {
        unsigned long page = (unsigned long)rand_r(&seed) % pages;
        given_back[page] = 1;
        madvise(memory + page * WORDS, PAGE, MADV_DONTNEED);
        move((unsigned long)rand_r(&seed) % (pages - 64), 16);
        pid_t child = fork();
        unsigned long from = (unsigned long)rand_r(&seed) % (pages - 256);
        if (!child)
            _exit(wrong(from, from + 64) > 0);
        int status = 1;
        if (child > 0)
            waitpid(child, &status, 0);
        bad += status != 0;
        if (++rounds % 100 == 0) {
            snprintf(text, sizeof text, "%lu rounds %lu wrong\n", rounds, bad + (access("end", F_OK) ? 0 : wrong(0, pages)));
            tell("told", text);
            if (!access("end", F_OK))
                tell("ended", text);
        }
    }
}
