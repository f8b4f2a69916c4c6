/* The second half of `tree`: unpacks a stream of bytes into a directory tree. `tree.c` describes the format. */
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Larger gaps of inode numbers are not skipped one by one, because that would take minutes. */
#define MAX_SKIPPED 5000000ull

static int root = -1;
static char buffer[CHUNK];
static int parts = -1; /* where inodes lie until they have their names */
static int exact;
static uint64_t reached; /* the last inode number that the file system gave */
static uint64_t skipped;

/* Part of the names of inodes that have no name yet. With kept numbers they lie among the files of the tree, whose names
 * a sandbox chooses. */
static uint64_t secret;

struct part {
    char name[48];
};

static struct part part_of(uint64_t ino)
{
    struct part part;
    snprintf(part.name, sizeof part.name, ".cay-%016" PRIx64 "-%" PRIu64, secret, ino);
    return part;
}

/* Keeps the existing files, and continues without inode numbers. */
static void give_up(const char *why)
{
    if (exact)
        fprintf(stderr, "cay-guest: inexact: %s\n", why);
    exact = 0;
}

/* Uses up inode numbers until `ino` is the next one. */
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

/* Whiteouts of overlayfs, and null, zero, full, random, urandom, tty, console and ptmx, as images have them. No tree of a
 * sandbox or of an image has another one, so the stream is forged: a disk of the host would be open to whoever reaches
 * the file. */
static void require_harmless(mode_t mode, dev_t number)
{
    static const unsigned char memory[] = {3, 5, 7, 8, 9};
    unsigned from = major(number), which = minor(number);
    int good = (from == 0 && which == 0) || (from == 5 && which <= 2);
    for (size_t i = 0; i < sizeof memory; i++)
        good = good || (from == 1 && which == memory[i]);
    if (S_ISBLK(mode) || (S_ISCHR(mode) && !good))
        refuse("tree: the stream makes no sense: the device %u:%u", from, which);
}

static void make(const char *name, mode_t mode, dev_t number)
{
    require_harmless(mode, number);
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

/* Writing to a file or changing its owner removes capabilities, so these are set last. */
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

int unpack_tree(const char *path, int keep_numbers)
{
    umask(0);
    if (getrandom(&secret, sizeof secret, 0) != sizeof secret)
        die("tree: get a random number");
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
