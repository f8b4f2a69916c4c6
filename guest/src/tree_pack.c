/* The first half of `tree`: packs a directory tree into a stream of bytes. `tree.c` describes the format. */
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MAX_HANDLE 128

struct entry {
    uint64_t ino;
    uint64_t parent; /* ino of the directory */
    uint32_t above;  /* index of the directory */
    uint32_t depth;
    size_t text; /* offset of the name in `texts`, after which the handle follows */
    uint16_t name_length;
    uint8_t handle_length;
    uint8_t is_directory;
    int32_t handle_type;
};

static struct entry *entries;
static size_t count, room;
static char *texts;
static size_t text_count, text_room;
static int root = -1;
static dev_t device;
static char buffer[CHUNK];

/* What a copy of a subvolume has in the place of each subvolume in it: an empty directory of this number. */
#define SUBVOLUME 2

static size_t left_out;

static size_t remember(const void *bytes, size_t length)
{
    while (text_count + length > text_room) {
        text_room = text_room ? text_room * 2 : 1 << 16;
        texts = realloc(texts, text_room);
        if (!texts)
            refuse("tree: there are too many files to list them in memory");
    }
    memcpy(texts + text_count, bytes, length);
    text_count += length;
    return text_count - length;
}

/* A file handle finds the entry again at any depth. Some file systems have none. */
static void add(int directory, const char *name, uint32_t above)
{
    struct stat status;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW))
        die("tree: look at %s", name);
    if (status.st_dev != device && S_ISDIR(status.st_mode) && status.st_ino == SUBVOLUME) {
        left_out++;
        return;
    }
    if (status.st_dev != device)
        refuse("tree: %s is on another file system", name);
    if (count == room) {
        room = room ? room * 2 : 1024;
        entries = realloc(entries, room * sizeof *entries);
        if (!entries || room > UINT32_MAX)
            refuse("tree: there are too many files to list them in memory");
    }
    struct entry *entry = &entries[count];
    *entry = (struct entry){.ino = status.st_ino, .above = above, .is_directory = S_ISDIR(status.st_mode)};
    entry->parent = entries[above].ino;
    entry->depth = entries[above].depth + 1;
    entry->name_length = (uint16_t)strlen(name);
    entry->text = remember(name, entry->name_length + 1u);
    struct {
        struct file_handle head;
        unsigned char bytes[MAX_HANDLE];
    } handle = {.head.handle_bytes = MAX_HANDLE};
    int mount;
    if (!name_to_handle_at(directory, name, &handle.head, &mount, 0)) {
        entry->handle_length = (uint8_t)handle.head.handle_bytes;
        entry->handle_type = handle.head.handle_type;
        remember(handle.head.f_handle, entry->handle_length);
    }
    count++;
}

static void list(int directory, uint32_t index)
{
    int again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_NOATIME | O_CLOEXEC);
    DIR *names = again < 0 ? NULL : fdopendir(again);
    if (!names)
        die("tree: list a directory");
    struct dirent *found;
    errno = 0;
    while ((found = readdir(names))) {
        if (strcmp(found->d_name, ".") && strcmp(found->d_name, ".."))
            add(directory, found->d_name, index);
        errno = 0;
    }
    if (errno)
        die("tree: list a directory");
    closedir(names);
}

/* Walks down and up again with one descriptor. The entries of a directory are adjacent. */
static void walk(void)
{
    int here = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (here < 0)
        die("tree: open the root");
    uint32_t directory = 0;
    size_t next = count;
    list(here, 0);
    for (;;) {
        while (next < count && entries[next].above == directory && !entries[next].is_directory)
            next++;
        int below;
        if (next < count && entries[next].above == directory) {
            below = openat(here, texts + entries[next].text, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (below < 0)
                die("tree: open %s", texts + entries[next].text);
            directory = (uint32_t)next;
            next = count;
            list(below, directory);
        } else if (directory == 0) {
            break;
        } else {
            below = openat(here, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            if (below < 0)
                die("tree: leave %s", texts + entries[directory].text);
            next = directory + 1u;
            directory = entries[directory].above;
        }
        close(here);
        here = below;
    }
    close(here);
}

static int open_by_names(const struct entry *entry, int flags)
{
    uint32_t depth = entry->depth;
    uint32_t *path = calloc(depth, sizeof *path);
    if (!path)
        refuse("tree: no memory");
    const struct entry *each = entry;
    for (uint32_t i = depth - 1; i > 0; i--) {
        path[i] = each->above;
        each = &entries[each->above];
    }
    int here = openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (uint32_t i = 1; i < depth && here >= 0; i++) {
        int below = openat(here, texts + entries[path[i]].text, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(here);
        here = below;
    }
    free(path);
    int found = here < 0 ? -1 : openat(here, texts + entry->text, flags | O_NOFOLLOW | O_CLOEXEC);
    if (here >= 0)
        close(here);
    return found;
}

static int open_entry(const struct entry *entry, int flags)
{
    if (entry->handle_length) {
        struct {
            struct file_handle head;
            unsigned char bytes[MAX_HANDLE];
        } handle = {.head = {.handle_bytes = entry->handle_length, .handle_type = entry->handle_type}};
        memcpy(handle.head.f_handle, texts + entry->text + entry->name_length + 1, entry->handle_length);
        int found = open_by_handle_at(root, &handle.head, flags | O_NOFOLLOW | O_CLOEXEC);
        if (found >= 0)
            return found;
    }
    return open_by_names(entry, flags);
}

static void put_attributes(const char *path)
{
    static char names[1 << 16], value[MAX_VALUE];
    ssize_t length = listxattr(path, names, sizeof names);
    if (length < 0 && errno != ENOTSUP)
        die("tree: list extended attributes");
    for (char *name = names; name < names + length; name += strlen(name) + 1) {
        ssize_t size = getxattr(path, name, value, sizeof value);
        if (size < 0)
            die("tree: read extended attribute %s", name);
        put16((uint16_t)strlen(name));
        put(name, strlen(name));
        put32((uint32_t)size);
        put(value, (size_t)size);
    }
    put16(0);
}

static void put_target(int fd)
{
    ssize_t length = readlinkat(fd, "", buffer, MAX_LINK);
    if (length < 0)
        die("tree: read a link");
    put32((uint32_t)length);
    put(buffer, (size_t)length);
}

static void put_content(int fd, off_t size)
{
    off_t at = 0;
    while (at < size) {
        off_t data = lseek(fd, at, SEEK_DATA);
        if (data < 0 && errno == ENXIO)
            break;
        off_t hole = data < 0 ? -1 : lseek(fd, data, SEEK_HOLE);
        if (hole < 0)
            die("tree: find the holes of a file");
        for (at = data; at < hole;) {
            size_t wanted = hole - at < (off_t)sizeof buffer ? (size_t)(hole - at) : sizeof buffer;
            ssize_t length = pread(fd, buffer, wanted, at);
            if (length <= 0)
                die("tree: read a file");
            put64((uint64_t)at);
            put32((uint32_t)length);
            put(buffer, (size_t)length);
            at += length;
        }
    }
    put64(NO_MORE);
}

static void put_inode(const struct entry *entry)
{
    int fd = open_entry(entry, O_PATH);
    struct stat status;
    if (fd < 0 || fstat(fd, &status))
        die("tree: open %s", texts + entry->text);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    put8('i');
    put64(entry->ino);
    put32(status.st_mode);
    put32(status.st_uid);
    put32(status.st_gid);
    put64(status.st_rdev);
    put64((uint64_t)status.st_size);
    put_time(status.st_atim);
    put_time(status.st_mtim);
    put_attributes(path);
    if (S_ISLNK(status.st_mode))
        put_target(fd);
    if (S_ISREG(status.st_mode)) {
        int content = open(path, O_RDONLY | O_CLOEXEC | O_NOATIME);
        if (content < 0)
            die("tree: open %s", texts + entry->text);
        put_content(content, status.st_size);
        close(content);
    }
    close(fd);
}

static void put_name(const struct entry *entry, int last)
{
    put8(entry->is_directory ? 'd' : 'n');
    put64(entry->ino);
    put64(entry->parent);
    put8((uint8_t)last);
    put16(entry->name_length);
    put(texts + entry->text, entry->name_length);
    if (!entry->is_directory)
        return;
    int fd = open_entry(entry, O_PATH);
    struct stat status;
    if (fd < 0 || fstat(fd, &status))
        die("tree: open %s", texts + entry->text);
    put_time(status.st_atim);
    put_time(status.st_mtim);
    close(fd);
}

static int by_number(const void *one, const void *other)
{
    const struct entry *a = &entries[*(const uint32_t *)one], *b = &entries[*(const uint32_t *)other];
    return a->ino < b->ino ? -1 : a->ino > b->ino;
}

static int by_depth(const void *one, const void *other)
{
    const struct entry *a = &entries[*(const uint32_t *)one], *b = &entries[*(const uint32_t *)other];
    return a->depth > b->depth ? -1 : a->depth < b->depth;
}

int pack_tree(const char *path)
{
    root = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;
    if (root < 0 || fstat(root, &status))
        die("tree: open %s", path);
    device = status.st_dev;
    room = 1024;
    entries = calloc(room, sizeof *entries);
    if (!entries)
        refuse("tree: no memory");
    entries[0] = (struct entry){.ino = status.st_ino, .is_directory = 1};
    count = 1;
    walk();
    uint32_t *order = calloc(count, sizeof *order);
    if (!order)
        refuse("tree: there are too many files to list them in memory");
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    qsort(order + 1, count - 1, sizeof *order, by_number);
    put(MAGIC, sizeof MAGIC);
    put64(status.st_ino);
    for (size_t i = 1; i < count; i++)
        if (i == 1 || entries[order[i]].ino != entries[order[i - 1]].ino)
            put_inode(&entries[order[i]]);
    for (size_t i = 1; i < count; i++)
        if (!entries[order[i]].is_directory)
            put_name(&entries[order[i]], i + 1 == count || entries[order[i]].ino != entries[order[i + 1]].ino);
    qsort(order + 1, count - 1, sizeof *order, by_depth);
    for (size_t i = 1; i < count; i++)
        if (entries[order[i]].is_directory)
            put_name(&entries[order[i]], 1);
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", root);
    put8('r');
    put32(status.st_mode);
    put32(status.st_uid);
    put32(status.st_gid);
    put_time(status.st_atim);
    put_time(status.st_mtim);
    put_attributes(self);
    if (fflush(stdout))
        die("tree: write");
    if (left_out)
        fprintf(stderr, "cay-guest: left out: %zu subvolumes\n", left_out);
    return 0;
}
