/* Small file systems in memory, which CRIU saves with tar and gzip: three programs for each, though most are empty. What
 * is written here tar reads too, and what tar wrote is left to it. */
#include "shim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST 65024 /* one block that is not compressed has 65,535 at most */
#define BLOCK 512
#define MOST_CONTENT 4096
#define DEPTH 8

struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], time[12], sum[8], type, link[100], magic[6], version[2];
    char user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};

_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

/* The beginning of a gzip file whose time says who wrote it, and the head of its only block. */
static const unsigned char BEGIN[] = {0x1f, 0x8b, 8, 0, 'C', 'A', 'Y', '1', 0, 255, 1};
#define HEAD (sizeof BEGIN + 4)
#define TAIL 8

static unsigned char content[MOST + 2 * BLOCK];
static size_t length;

static uint32_t checksum(const unsigned char *bytes, size_t count)
{
    uint32_t sum = ~0u;
    while (count--) {
        sum ^= *bytes++;
        for (int i = 0; i < 8; i++)
            sum = (sum >> 1) ^ (sum & 1 ? 0xedb88320u : 0);
    }
    return ~sum;
}

static void put(unsigned char *place, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        place[i] = (unsigned char)(value >> (8 * i));
}

static uint32_t get(const unsigned char *place, int bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint32_t)place[i] << (8 * i);
    return value;
}

static unsigned header_sum(const struct header *header)
{
    struct header blank = *header;
    unsigned sum = 0;
    memset(blank.sum, ' ', sizeof blank.sum);
    for (size_t i = 0; i < sizeof blank; i++)
        sum += ((unsigned char *)&blank)[i];
    return sum;
}

/* ---- write --------------------------------------------------------------------------------------------------------- */

/* Adds a header; NULL if it does not fit. */
static struct header *add_header(const char *name, const struct stat *status, char type, size_t size)
{
    if (length + BLOCK + (size + BLOCK - 1) / BLOCK * BLOCK > MOST - 2 * BLOCK || strlen(name) >= sizeof ((struct header *)0)->name
        || status->st_uid > 07777777 || status->st_gid > 07777777 || status->st_mtime < 0 || status->st_mtime > 077777777777)
        return NULL;
    struct header *header = (struct header *)(content + length);
    memset(header, 0, BLOCK);
    strcpy(header->name, name);
    snprintf(header->mode, sizeof header->mode, "%07o", status->st_mode & 07777);
    snprintf(header->uid, sizeof header->uid, "%07o", status->st_uid);
    snprintf(header->gid, sizeof header->gid, "%07o", status->st_gid);
    snprintf(header->size, sizeof header->size, "%011lo", (unsigned long)size);
    snprintf(header->time, sizeof header->time, "%011lo", (unsigned long)status->st_mtime);
    header->type = type;
    memcpy(header->magic, "ustar", 6);
    memcpy(header->version, "00", 2);
    length += BLOCK;
    return header;
}

static void finish_header(struct header *header)
{
    snprintf(header->sum, sizeof header->sum, "%06o", header_sum(header));
    header->sum[7] = ' ';
}

static int add_link(int parent, const char *entry, const char *name, const struct stat *status)
{
    struct header *header = add_header(name, status, '2', 0);
    ssize_t got = header ? readlinkat(parent, entry, header->link, sizeof header->link) : -1;
    if (got <= 0 || got == sizeof header->link)
        return 0;
    finish_header(header);
    return 1;
}

static int add_file(int parent, const char *entry, const char *name, const struct stat *status)
{
    size_t size = (size_t)status->st_size;
    if (status->st_nlink != 1 || status->st_size > MOST_CONTENT)
        return 0;
    struct header *header = add_header(name, status, '0', size);
    int file = header ? openat(parent, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    if (file < 0)
        return 0;
    size_t room = (size + BLOCK - 1) / BLOCK * BLOCK;
    memset(content + length, 0, room);
    ssize_t got = size ? read(file, content + length, size) : 0;
    close(file);
    if (got != (ssize_t)size)
        return 0;
    length += room;
    finish_header(header);
    return 1;
}

static int add_entries(int directory, const char *prefix, dev_t device, int depth);

static int add_directory(int directory, const char *name, dev_t device, int depth)
{
    struct stat status;
    if (fstat(directory, &status) || status.st_dev != device || depth == DEPTH)
        return 0;
    struct header *header = add_header(name, &status, '5', 0);
    if (!header)
        return 0;
    finish_header(header);
    return add_entries(directory, name, device, depth);
}

static int add_entry(int parent, const char *entry, const char *prefix, dev_t device, int depth)
{
    char name[128];
    struct stat status;
    if (fstatat(parent, entry, &status, AT_SYMLINK_NOFOLLOW) || status.st_dev != device)
        return 0;
    int is_directory = S_ISDIR(status.st_mode);
    if ((size_t)snprintf(name, sizeof name, "%s%s%s", prefix, entry, is_directory ? "/" : "") >= sizeof name)
        return 0;
    if (S_ISLNK(status.st_mode))
        return add_link(parent, entry, name, &status);
    if (S_ISREG(status.st_mode))
        return add_file(parent, entry, name, &status);
    int directory = is_directory ? openat(parent, entry, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    int added = directory >= 0 && add_directory(directory, name, device, depth + 1);
    if (directory >= 0)
        close(directory);
    return added;
}

/* What is in a directory; 0 if something is too large, or of a kind that is left to tar. */
static int add_entries(int directory, const char *prefix, dev_t device, int depth)
{
    int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), added = 1;
    DIR *entries = copy < 0 ? NULL : fdopendir(copy);
    if (!entries)
        return 0;
    errno = 0;
    for (struct dirent *each; added && (each = readdir(entries)); errno = 0)
        if (strcmp(each->d_name, ".") && strcmp(each->d_name, ".."))
            added = add_entry(directory, each->d_name, prefix, device, depth);
    added = added && !errno;
    closedir(entries);
    return added;
}

static int write_all(const unsigned char *bytes, size_t count)
{
    while (count) {
        ssize_t done = write(1, bytes, count);
        if (done <= 0)
            return 0;
        bytes += done;
        count -= (size_t)done;
    }
    return 1;
}

static int pack(const char *path, int *outcome)
{
    struct stat status;
    unsigned char head[HEAD], tail[TAIL];
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int packed = directory >= 0 && !fstat(directory, &status) && add_directory(directory, "./", status.st_dev, 0);
    if (directory >= 0)
        close(directory);
    if (!packed)
        return 0;
    memset(content + length, 0, 2 * BLOCK);
    length += 2 * BLOCK;
    memcpy(head, BEGIN, sizeof BEGIN);
    put(head + sizeof BEGIN, (uint32_t)length, 2);
    put(head + sizeof BEGIN + 2, ~(uint32_t)length, 2);
    put(tail, checksum(content, length), 4);
    put(tail + 4, (uint32_t)length, 4);
    *outcome = !(write_all(head, sizeof head) && write_all(content, length) && write_all(tail, sizeof tail));
    if (*outcome)
        dprintf(2, "Error (shim): cannot write a file system: %s\n", strerror(errno));
    return 1;
}

/* ---- read ---------------------------------------------------------------------------------------------------------- */

/* Reads an archive that was written here; 0 if it is another. */
static int read_archive(void)
{
    unsigned char head[HEAD], tail[TAIL];
    if (pread(0, head, sizeof head, 0) != sizeof head || memcmp(head, BEGIN, sizeof BEGIN))
        return 0;
    length = get(head + sizeof BEGIN, 2);
    return length <= MOST && length % BLOCK == 0 && pread(0, content, length, HEAD) == (ssize_t)length
           && pread(0, tail, sizeof tail, (off_t)(HEAD + length)) == sizeof tail && get(tail, 4) == checksum(content, length)
           && get(tail + 4, 4) == length;
}

/* Opens the directory in which an entry is, and points to its own name; the root's is ".". */
static int open_parent(int root, char *name, const char **entry)
{
    size_t count = strlen(name);
    if (strncmp(name, "./", 2))
        return -1;
    if (name[count - 1] == '/')
        name[count - 1] = 0;
    int parent = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char *part = name + 1;
    *entry = ".";
    while (parent >= 0 && *part++) {
        char *end = strchrnul(part, '/');
        int last = !*end;
        *end = 0;
        if (!*part || !strcmp(part, ".") || !strcmp(part, "..")) {
            close(parent);
            return -1;
        }
        if (last) {
            *entry = part;
            return parent;
        }
        int next = openat(parent, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(parent);
        parent = next;
        part = end;
        *part = '/';
    }
    return parent;
}

static int make(int parent, const char *entry, const struct header *header, size_t size)
{
    if (header->type == '5')
        return !strcmp(entry, ".") || !mkdirat(parent, entry, 0700) || errno == EEXIST;
    if (header->type == '2')
        return !symlinkat(header->link, parent, entry);
    int file = openat(parent, entry, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return 0;
    int made = write(file, (const char *)header + BLOCK, size) == (ssize_t)size;
    return !close(file) && made;
}

/* Owner first, because a change of it takes rights away. */
static int dress(int parent, const char *entry, const struct header *header)
{
    struct timespec times[] = {{.tv_nsec = UTIME_NOW}, {.tv_sec = (time_t)strtoul(header->time, NULL, 8)}};
    return !fchownat(parent, entry, (uid_t)strtoul(header->uid, NULL, 8), (gid_t)strtoul(header->gid, NULL, 8),
                     AT_SYMLINK_NOFOLLOW)
           && (header->type == '2' || !fchmodat(parent, entry, (mode_t)strtoul(header->mode, NULL, 8), 0))
           && !utimensat(parent, entry, times, AT_SYMLINK_NOFOLLOW);
}

/* Makes an entry, or gives it its owner, rights and time: directories get these when all is in them. */
static int bring(int root, size_t at, int all)
{
    struct header *header = (struct header *)(content + at);
    char name[sizeof header->name + 1] = "";
    const char *entry;
    memcpy(name, header->name, sizeof header->name);
    int parent = open_parent(root, name, &entry);
    if (parent < 0)
        return 0;
    size_t size = strtoul(header->size, NULL, 8);
    int done = (!all || make(parent, entry, header, size)) && (all == (header->type == '5') || dress(parent, entry, header));
    close(parent);
    return done;
}

static int unpack(const char *path, int *outcome)
{
    static size_t places[MOST / BLOCK];
    size_t count = 0;
    if (!read_archive())
        return 0;
    int root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), done = root >= 0;
    for (size_t at = 0; done && at < length && content[at];) {
        const struct header *header = (const struct header *)(content + at);
        size_t size = strtoul(header->size, NULL, 8);
        done = size <= MOST_CONTENT && at + BLOCK + size <= length && bring(root, at, 1);
        places[count++] = at;
        at += BLOCK + (size + BLOCK - 1) / BLOCK * BLOCK;
    }
    while (done && count)
        if (content[places[--count] + offsetof(struct header, type)] == '5')
            done = bring(root, places[count], 0);
    if (!done)
        dprintf(2, "Error (shim): cannot restore a file system: %s\n", strerror(errno));
    *outcome = !done;
    return 1;
}

int archive(char *const arguments[], int *outcome)
{
    const char *directory = NULL;
    int create = 0, extract = 0;
    for (int i = 1; arguments[i]; i++) {
        create |= !strcmp(arguments[i], "--create");
        extract |= !strcmp(arguments[i], "--extract");
        if (!strcmp(arguments[i], "--directory"))
            directory = arguments[i + 1];
    }
    if (!directory)
        return 0;
    return create ? pack(directory, outcome) : extract ? unpack(directory, outcome) : 0;
}
