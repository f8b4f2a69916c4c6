/* Names are those of CRIU 3 and 4. A file is named after the boot and after CRIU's program, which are what its content
 * depends on; one that is being written also after the process, as one that was killed leaves it. */
#include "shim.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KNOWN "/run/criu.kdat"
#define OURS "kernel-"

static const char *const unfinished[] = {"/run/.criu.kdat", "/run/criu.kdat.tmp"};

/* Where the known file is; empty if that cannot be said. */
static char place[PLACE_ROOM - 16];

/* A file of this cache that is being written; 0 without one. */
static int writing;

static int is_unfinished(const char *path)
{
    return !strcmp(path, unfinished[0]) || !strcmp(path, unfinished[1]);
}

static void find_place(void)
{
    Dl_info self;
    struct stat criu;
    char boot[37] = "";
    int file = (int)syscall(SYS_openat, AT_FDCWD, "/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? -1 : read(file, boot, 36);
    if (file >= 0)
        syscall(SYS_close, file);
    const char *slash = dladdr(&writing, &self) && self.dli_fname ? strrchr(self.dli_fname, '/') : NULL;
    if (got != 36 || !slash || stat("/proc/self/exe", &criu))
        return;
    int length = snprintf(place, sizeof place, "%.*s/" OURS "%s-%lx-%lx", (int)(slash - self.dli_fname), self.dli_fname, boot,
                          (unsigned long)criu.st_ino, (unsigned long)criu.st_mtime);
    if (length < 0 || (size_t)length >= sizeof place)
        *place = 0;
}

const char *place_of(const char *path, char *room)
{
    int known = !strcmp(path, KNOWN);
    if (!known && !is_unfinished(path))
        return path;
    if (!*place)
        find_place();
    if (!*place)
        return path;
    if (known)
        return place;
    snprintf(room, PLACE_ROOM, "%s-%d", place, (int)syscall(SYS_getpid));
    return room;
}

void note_opened(const char *path, int fd)
{
    if (is_unfinished(path) && *place)
        writing = fd;
    else if (fd == writing)
        writing = 0;
}

/* What CRIU wants to be sure of is that the file is gone after the next start of the machine. */
EXPORTED int fstatfs64(int fd, struct statfs64 *status)
{
    int result = (int)syscall(SYS_fstatfs, fd, status);
    if (!result && writing && fd == writing) {
        status->f_type = TMPFS_MAGIC;
        writing = 0;
    }
    return result;
}

/* Removes the files of earlier starts of the machine, and unfinished ones. */
static void remove_others(void)
{
    char directory[PLACE_ROOM];
    const char *kept = strrchr(place, '/');
    snprintf(directory, sizeof directory, "%.*s", (int)(kept - place), place);
    DIR *files = opendir(directory);
    for (struct dirent *each; files && (each = readdir(files));)
        if (!strncmp(each->d_name, OURS, sizeof OURS - 1) && strcmp(each->d_name, kept + 1))
            unlinkat(dirfd(files), each->d_name, 0);
    if (files)
        closedir(files);
}

EXPORTED int rename(const char *from, const char *to)
{
    char room[PLACE_ROOM], other[PLACE_ROOM];
    int result = (int)syscall(SYS_renameat2, AT_FDCWD, place_of(from, room), AT_FDCWD, place_of(to, other), 0);
    if (!result && is_unfinished(from) && *place)
        remove_others();
    return result;
}

EXPORTED int unlink(const char *path)
{
    char room[PLACE_ROOM];
    return (int)syscall(SYS_unlinkat, AT_FDCWD, place_of(path, room), 0);
}
