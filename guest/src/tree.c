/* A directory tree as one stream of bytes, and back: for backups.
 *
 * Keeps what a sandbox's root can make: owners, modes, times, holes, hard links, extended attributes, whiteouts of
 * overlayfs, and in `exact` mode the inode numbers. Programs that were saved with their memory
 * remember inode numbers: SQLite refuses a database file whose number changed.
 *
 * The stream has four kinds of records. Inodes come in ascending order, so that a file system that hands out numbers in
 * sequence, as a new subvolume of btrfs does, hands out the same ones. Then come names of files, then names of
 * directories, the deepest first: `unpack` makes every inode in one flat directory, under a name of its own, and moves
 * it when its content is complete. No path is ever walked, so that neither links nor names in the tree lead elsewhere,
 * and the depth of the tree does not matter. The last record is the root's.
 *
 * Neither side holds more than the list of names in memory, and `unpack` not even that. */
#include "tree.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* Most memory of the host for a tree's list of names. */
#define MEMORY_LIMIT (3ull << 30)

void put(const void *bytes, size_t length)
{
    if (fwrite(bytes, 1, length, stdout) != length)
        die("tree: write");
}

void put8(uint8_t value)
{
    put(&value, 1);
}

void put16(uint16_t value)
{
    put(&value, 2);
}

void put32(uint32_t value)
{
    put(&value, 4);
}

void put64(uint64_t value)
{
    put(&value, 8);
}

void get(void *bytes, size_t length)
{
    if (fread(bytes, 1, length, stdin) != length)
        refuse("tree: the stream is cut");
}

uint8_t get8(void)
{
    uint8_t value;
    get(&value, 1);
    return value;
}

uint16_t get16(void)
{
    uint16_t value;
    get(&value, 2);
    return value;
}

uint32_t get32(void)
{
    uint32_t value;
    get(&value, 4);
    return value;
}

uint64_t get64(void)
{
    uint64_t value;
    get(&value, 8);
    return value;
}

size_t get_length(uint32_t length, uint32_t most)
{
    if (length > most)
        refuse("tree: the stream makes no sense: a length of %u", length);
    return length;
}

void put_time(struct timespec time)
{
    put64((uint64_t)time.tv_sec);
    put32((uint32_t)time.tv_nsec);
}

struct timespec get_time(void)
{
    struct timespec time = {.tv_sec = (time_t)get64()};
    time.tv_nsec = (long)get32();
    if (time.tv_nsec > 999999999)
        refuse("tree: the stream makes no sense: a time");
    return time;
}

int run_tree(int argc, char **argv)
{
    const char *what = argc ? argv[0] : "";
    struct rlimit most = {.rlim_cur = MEMORY_LIMIT, .rlim_max = MEMORY_LIMIT};
    setrlimit(RLIMIT_AS, &most);
    static char out[1 << 18], in[1 << 18];
    setvbuf(stdout, out, _IOFBF, sizeof out);
    setvbuf(stdin, in, _IOFBF, sizeof in);
    if (!strcmp(what, "pack") && argc == 2)
        return pack_tree(argv[1]);
    if (!strcmp(what, "unpack") && argc == 2)
        return unpack_tree(argv[1], 0);
    if (!strcmp(what, "unpack") && argc == 3 && !strcmp(argv[2], "exact"))
        return unpack_tree(argv[1], 1);
    refuse("usage: cay-guest tree pack DIR | unpack DIR [exact]");
}
