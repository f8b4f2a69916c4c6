#include "shim.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char *read_all(int fd, size_t *length)
{
    size_t room = 1 << 16;
    char *text = malloc(room + 1);
    ssize_t got;
    *length = 0;
    while (text && (got = read(fd, text + *length, room - *length)) > 0) {
        *length += (size_t)got;
        if (*length == room) {
            room *= 2;
            char *grown = realloc(text, room + 1);
            if (!grown)
                free(text);
            text = grown;
        }
    }
    if (text)
        text[*length] = 0;
    return text;
}

static char *line_of(char *text, char *within)
{
    while (within > text && within[-1] != '\n')
        within--;
    return within;
}

/* In smaps a head line is followed by lines like "Size: 16 kB", which begin with a capital letter. */
static char *next_head(char *line)
{
    do {
        line = strchr(line, '\n');
        if (!line)
            return NULL;
        line++;
    } while (*line >= 'A' && *line <= 'Z');
    return line;
}

/* Gives the area before [vvar_vclock] the latter's end, and takes the latter's lines out. */
static void join_areas(char *text, size_t *length)
{
    char *name = strstr(text, "[vvar_vclock]\n"), *before = strstr(text, "[vvar]\n");
    if (!name || !before)
        return;
    char *gone = line_of(text, name), *kept = line_of(text, before), *rest = next_head(gone);
    char *gone_end = strchr(gone, '-'), *kept_end = strchr(kept, '-');
    if (!gone_end || !kept_end || next_head(kept) != gone)
        return;
    size_t digits = strcspn(gone_end, " ");
    if (digits != strcspn(kept_end, " "))
        return;
    memcpy(kept_end, gone_end, digits);
    size_t left = rest ? *length - (size_t)(rest - text) : 0;
    if (rest)
        memmove(gone, rest, left + 1);
    *length = (size_t)(gone - text) + left;
}

static int lists_mappings(const char *path, int flags)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return (flags & O_ACCMODE) == O_RDONLY && (!strcmp(name, "maps") || !strcmp(name, "smaps"));
}

/* Puts an edited copy in the place of `fd`. */
static int edited(int fd)
{
    size_t length;
    char *text = read_all(fd, &length);
    if (!text || !strstr(text, "[vvar_vclock]")) {
        free(text);
        lseek(fd, 0, SEEK_SET);
        return fd;
    }
    join_areas(text, &length);
    int copy = memfd_create("maps", MFD_CLOEXEC);
    if (copy < 0 || write(copy, text, length) != (ssize_t)length || lseek(copy, 0, SEEK_SET)
        || dup3(copy, fd, O_CLOEXEC) < 0)
        lseek(fd, 0, SEEK_SET);
    if (copy >= 0)
        close(copy);
    free(text);
    return fd;
}

static int open_at(int directory, const char *path, int flags, mode_t mode)
{
    char room[PLACE_ROOM];
    int fd = (int)syscall(SYS_openat, directory, place_of(path, room), flags, mode);
    if (fd < 0)
        return fd;
    note_opened(path, fd);
    return lists_mappings(path, flags) ? edited(fd) : fd;
}

EXPORTED int open64(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return open_at(AT_FDCWD, path, flags, mode);
}

EXPORTED int openat64(int directory, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return open_at(directory, path, flags, mode);
}
