/* The content of memory, which a dump spends most of its time on.
 *
 * A dump that is given up fails here: CRIU then takes its own code out of the processes and leaves them as they were, as it
 * does when a disk is full. A dump that nobody waits for leaves little in the page cache that the disk does not have: what
 * others have the disk write is not queued behind gigabytes, and the end of the dump is nearly the end of the save. */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The file whose existence says that the dump is given up. */
#define GIVE_UP "CAY_GIVE_UP"

/* There if the dump runs behind other work. */
#define BEHIND "CAY_BEHIND"

/* As many bytes are written between two looks; CRIU goes on with the rest. */
#define PIECE (4 << 20)

/* As many bytes at most wait for the disk. */
#define UNWRITTEN (64 << 20)

/* Has the disk write what was added to a file, and waits for what was added long before. */
static void write_behind(int file)
{
    static int last = -1;
    static off_t begun;
    off_t end = lseek(file, 0, SEEK_CUR);
    if (file != last)
        begun = 0;
    last = file;
    if (end < begun + PIECE)
        return;
    sync_file_range(file, begun, end - begun, SYNC_FILE_RANGE_WRITE);
    begun = end;
    if (end > UNWRITTEN)
        sync_file_range(file, end - UNWRITTEN - PIECE, PIECE,
                        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
}

EXPORTED ssize_t splice(int from, off_t *at, int to, off_t *place, size_t length, unsigned flags)
{
    const char *word = getenv(GIVE_UP);
    if (word && !access(word, F_OK)) {
        errno = ECANCELED;
        return -1;
    }
    if (word && length > PIECE)
        length = PIECE;
    ssize_t done = (ssize_t)syscall(SYS_splice, from, at, to, place, length, flags);
    if (done > 0 && getenv(BEHIND))
        write_behind(to);
    return done;
}
