/* A directory tree as one stream of bytes, and back: for backups.
 *
 * Keeps what a sandbox's root can make: owners, modes, times, holes, hard links, extended attributes, device nodes (the
 * whiteouts of overlayfs are such), and in `exact` mode the inode numbers. Programs that were saved with their memory
 * remember inode numbers: SQLite refuses a database file whose number changed.
 *
 * The stream has four kinds of records. Inodes come in ascending order, so that a file system that hands out numbers in
 * sequence, as a new subvolume of btrfs does, hands out the same ones. Then come names of files, then names of
 * directories, the deepest first: `unpack` makes every inode in one flat directory, under a name of its own, and moves
 * it when its content is complete. No path is ever walked, so that neither links nor names in the tree lead elsewhere,
 * and the depth of the tree does not matter. The last record is the root's.
 *
 * Neither side holds more than the list of names in memory, and `unpack` not even that. */
#include "cay.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MAGIC "cay-tree-1"
#define CHUNK (1u << 20)
#define NO_MORE UINT64_MAX
#define MAX_VALUE (1u << 16)
#define MAX_LINK (1u << 16)
#define MAX_HANDLE 128

/* More numbers than this are not skipped one by one, as that would take minutes. */
#define MAX_SKIPPED 5000000ull

/* What a tree's list of names may take of the host's memory. */
#define MEMORY_LIMIT (3ull << 30)

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

/* ---- bytes ---- */

static void put(const void *bytes, size_t length)
{
    if (fwrite(bytes, 1, length, stdout) != length)
        die("tree: write");
}

static void put8(uint8_t value)
{
    put(&value, 1);
}

static void put16(uint16_t value)
{
    put(&value, 2);
}

static void put32(uint32_t value)
{
    put(&value, 4);
}

static void put64(uint64_t value)
{
    put(&value, 8);
}

static void get(void *bytes, size_t length)
{
    if (fread(bytes, 1, length, stdin) != length)
        refuse("tree: the stream is cut");
}

static uint8_t get8(void)
{
    uint8_t value;
    get(&value, 1);
    return value;
}

static uint16_t get16(void)
{
    uint16_t value;
    get(&value, 2);
    return value;
}

static uint32_t get32(void)
{
    uint32_t value;
    get(&value, 4);
    return value;
}

static uint64_t get64(void)
{
    uint64_t value;
    get(&value, 8);
    return value;
}

static size_t get_length(uint32_t length, uint32_t most)
{
    if (length > most)
        refuse("tree: the stream makes no sense: a length of %u", length);
    return length;
}

static void put_time(struct timespec time)
{
    put64((uint64_t)time.tv_sec);
    put32((uint32_t)time.tv_nsec);
}

static struct timespec get_time(void)
{
    struct timespec time = {.tv_sec = (time_t)get64()};
    time.tv_nsec = (long)get32();
    if (time.tv_nsec > 999999999)
        refuse("tree: the stream makes no sense: a time");
    return time;
}

/* ---- packing ---- */

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

/* A file handle finds the entry again however deep it lies. Some file systems have none. */
static void add(int directory, const char *name, uint32_t above)
{
    struct stat status;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW))
        die("tree: look at %s", name);
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

/* Down and up again with one descriptor. The entries of a directory lie side by side. */
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

static int pack(const char *path)
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
    return 0;
}

/* ---- unpacking ---- */

static int parts = -1; /* where inodes lie until they have their names */
static int exact;
static uint64_t reached; /* the last inode number that the file system gave */
static uint64_t skipped;

struct part {
    char name[32];
};

static struct part part_of(uint64_t ino)
{
    struct part part;
    snprintf(part.name, sizeof part.name, ".cay-%" PRIu64, ino);
    return part;
}

/* Leaves what is there as it is, and goes on without numbers. */
static void give_up(const char *why)
{
    if (exact)
        fprintf(stderr, "cay-guest: inexact: %s\n", why);
    exact = 0;
}

/* Uses up numbers until `ino` is the next one. */
static void skip_to(uint64_t ino)
{
    if (ino <= reached) {
        give_up("the file system is past a number");
        return;
    }
    if (ino - reached - 1 > MAX_SKIPPED - skipped) {
        give_up("too many numbers were in use between two files");
        return;
    }
    while (reached + 1 < ino) {
        struct stat status;
        int fd = openat(parts, ".cay-skip", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 || fstat(fd, &status) || unlinkat(parts, ".cay-skip", 0))
            die("tree: skip an inode number");
        close(fd);
        reached = status.st_ino;
        skipped++;
    }
}

static void make(const char *name, mode_t mode, dev_t number)
{
    int made;
    if (S_ISDIR(mode))
        made = mkdirat(parts, name, 0700);
    else
        made = mknodat(parts, name, S_ISREG(mode) ? S_IFREG | 0600 : mode, number);
    if (made)
        die("tree: make an inode of mode %o", mode);
}

static void get_content(const char *name, uint64_t size)
{
    int fd = openat(parts, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        die("tree: open a file");
    uint64_t at;
    while ((at = get64()) != NO_MORE) {
        size_t length = get_length(get32(), sizeof buffer);
        get(buffer, length);
        if (at > INT64_MAX - CHUNK || at + length > size)
            refuse("tree: the stream makes no sense: content beyond the end of a file");
        for (size_t done = 0; done < length;) {
            ssize_t written = pwrite(fd, buffer + done, length - done, (off_t)(at + done));
            if (written <= 0)
                die("tree: write a file");
            done += (size_t)written;
        }
    }
    if (size > INT64_MAX || ftruncate(fd, (off_t)size))
        die("tree: set the size of a file");
    close(fd);
}

struct head {
    uint64_t ino, device, size;
    uint32_t mode, uid, gid;
    struct timespec times[2];
};

static char pending[1 << 20]; /* attributes of an inode, which are set after its owner */
static size_t pending_length;

static void keep(const void *bytes, size_t length)
{
    if (pending_length + length > sizeof pending)
        refuse("tree: the stream makes no sense: too many extended attributes");
    memcpy(pending + pending_length, bytes, length);
    pending_length += length;
}

static void keep_attributes(void)
{
    static char value[MAX_VALUE];
    pending_length = 0;
    uint16_t name_length;
    while ((name_length = get16())) {
        char name[256];
        get(name, get_length(name_length, sizeof name - 1));
        uint32_t size = get32();
        get(value, get_length(size, sizeof value));
        keep(&name_length, sizeof name_length);
        keep(name, name_length);
        keep(&size, sizeof size);
        keep(value, size);
    }
}

/* Writing to a file or giving it away removes capabilities, so that these come last. */
static void set_kept_attributes(const char *name)
{
    for (size_t at = 0; at < pending_length;) {
        uint16_t name_length;
        uint32_t size;
        char key[256];
        memcpy(&name_length, pending + at, sizeof name_length);
        at += sizeof name_length;
        memcpy(key, pending + at, name_length);
        key[name_length] = 0;
        at += name_length;
        memcpy(&size, pending + at, sizeof size);
        at += sizeof size;
        if (lsetxattr(name, key, pending + at, size, 0))
            die("tree: set extended attribute %s", key);
        at += size;
    }
}

static void set_owner(const char *name, const struct head *head)
{
    if (fchownat(parts, name, head->uid, head->gid, AT_SYMLINK_NOFOLLOW))
        die("tree: set an owner");
    if (!S_ISLNK(head->mode) && fchmodat(parts, name, head->mode & 07777, 0))
        die("tree: set a mode");
}

static void get_inode(void)
{
    struct head head = {.ino = get64()};
    head.mode = get32();
    head.uid = get32();
    head.gid = get32();
    head.device = get64();
    head.size = get64();
    head.times[0] = get_time();
    head.times[1] = get_time();
    keep_attributes();
    struct part part = part_of(head.ino);
    if (exact)
        skip_to(head.ino);
    if (S_ISLNK(head.mode)) {
        size_t length = get_length(get32(), MAX_LINK);
        get(buffer, length);
        buffer[length] = 0;
        if (symlinkat(buffer, parts, part.name))
            die("tree: make a link");
    } else {
        make(part.name, head.mode, (dev_t)head.device);
    }
    struct stat status;
    if (fstatat(parts, part.name, &status, AT_SYMLINK_NOFOLLOW))
        die("tree: look at an inode");
    if (exact && status.st_ino != head.ino)
        give_up("the file system gives out its numbers in another order");
    reached = status.st_ino;
    if (S_ISREG(head.mode))
        get_content(part.name, head.size);
    set_owner(part.name, &head);
    set_kept_attributes(part.name);
    if (!S_ISDIR(head.mode) && utimensat(parts, part.name, head.times, AT_SYMLINK_NOFOLLOW))
        die("tree: set a time");
}

static void get_entry_name(char name[256])
{
    size_t length = get_length(get16(), 255);
    get(name, length);
    name[length] = 0;
    if (!length || strlen(name) != length || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, ".."))
        refuse("tree: the stream makes no sense: the name of a file");
}

static void get_name(int is_directory, uint64_t top)
{
    uint64_t ino = get64(), parent = get64();
    int last = get8();
    char name[256];
    get_entry_name(name);
    struct part part = part_of(ino), above = part_of(parent);
    int directory = parent == top
                        ? dup(root)
                        : openat(parts, above.name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0)
        die("tree: open the directory of a name");
    if (is_directory) {
        struct timespec times[2] = {get_time(), get_time()};
        if (utimensat(parts, part.name, times, AT_SYMLINK_NOFOLLOW))
            die("tree: set a time");
    }
    int moved = last ? renameat2(parts, part.name, directory, name, RENAME_NOREPLACE)
                     : linkat(parts, part.name, directory, name, 0);
    if (moved)
        die("tree: give a file its name");
    close(directory);
}

static void get_root(const char *path)
{
    mode_t mode = get32();
    uid_t uid = get32();
    gid_t gid = get32();
    struct timespec times[2] = {get_time(), get_time()};
    if (fchown(root, uid, gid) || fchmod(root, mode & 07777))
        die("tree: set the owner of %s", path);
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", root);
    static char key[256], value[MAX_VALUE];
    size_t length;
    while ((length = get_length(get16(), sizeof key - 1))) {
        get(key, length);
        key[length] = 0;
        size_t size = get_length(get32(), sizeof value);
        get(value, size);
        if (setxattr(self, key, value, size, 0))
            die("tree: set extended attribute %s", key);
    }
    if (futimens(root, times))
        die("tree: set the time of %s", path);
}

/* A directory that once held many names stays large on some file systems, so the root is not used for that where
 * another directory does not take a number. */
static void open_parts(const char *path)
{
    if (exact) {
        parts = dup(root);
        return;
    }
    char beside[PATH_MAX];
    if (snprintf(beside, sizeof beside, "%s.parts", path) >= (int)sizeof beside)
        refuse("tree: the path is too long: %s", path);
    if (mkdir(beside, 0700))
        die("tree: make %s", beside);
    parts = open(beside, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (parts < 0)
        die("tree: open %s", beside);
}

static void close_parts(const char *path)
{
    char beside[PATH_MAX];
    snprintf(beside, sizeof beside, "%s.parts", path);
    if (rmdir(beside) && errno != ENOENT)
        die("tree: remove %s", beside);
}

static int unpack(const char *path, int keep_numbers)
{
    umask(0);
    exact = keep_numbers;
    root = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (root < 0)
        die("tree: open %s", path);
    char magic[sizeof MAGIC];
    get(magic, sizeof magic);
    if (memcmp(magic, MAGIC, sizeof magic))
        refuse("tree: this is no tree, or one of another version");
    uint64_t top = get64();
    struct stat status;
    if (fstat(root, &status))
        die("tree: look at %s", path);
    reached = status.st_ino;
    open_parts(path);
    if (fchdir(parts))
        die("tree: enter %s", path);
    for (uint8_t kind; (kind = get8()) != 'r';) {
        if (kind == 'i')
            get_inode();
        else if (kind == 'n' || kind == 'd')
            get_name(kind == 'd', top);
        else
            refuse("tree: the stream makes no sense: a record of kind %u", kind);
    }
    close_parts(path);
    get_root(path);
    return 0;
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
        return pack(argv[1]);
    if (!strcmp(what, "unpack") && argc == 2)
        return unpack(argv[1], 0);
    if (!strcmp(what, "unpack") && argc == 3 && !strcmp(argv[2], "exact"))
        return unpack(argv[1], 1);
    refuse("usage: cay-guest tree pack DIR | unpack DIR [exact]");
}
