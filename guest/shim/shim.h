/* Preloaded into CRIU, so that versions before 4.2 work on newer kernels, and for what Cay needs of any version.
 *
 * sockets.c  From 6.16 on the kernel refuses SO_PASSCRED and SO_PASSSEC on sockets that are not unix sockets, and CRIU
 *            takes that for a failed dump of every internet socket. The answer it wants to hear is "off".
 * maps.c     From 6.13 on x86 kernels show the clock pages beside [vvar] as [vvar_vclock], which CRIU before 4.1 does not
 *            know. It is shown both as one [vvar]; a restore moves that in one piece, which kernels can do from 6.17 on.
 * tracing.c  Processors with AMX have more registers than the 4 KiB that CRIU reads of them, and the kernel takes all or
 *            none back: without help no process with threads could be saved. What CRIU leaves out it has not changed either.
 * locks.c    CRIU gives a process its POSIX locks first, and then maps its files and closes what it mapped them by, which
 *            drops all locks that the process has on these files. SQLite locks a file it has mapped: it would run on
 *            without, and the next process to open the database would cut that file off under it. So the locks are noted,
 *            and taken again just before the first process goes on.
 * memory.c   A process that is restored without its memory makes a userfaultfd, in the sandbox's user namespace, where the
 *            kernel refuses that. Cay's filler sends /dev/userfaultfd as the first thing on the connection for lazy pages.
 *            It stays open at a number that CRIU does not use; each process makes its userfaultfd by it and closes it.
 * cache.c    CRIU keeps what it found out of the kernel in /run, where that is a tmpfs, and else finds it out at each call.
 *            It is kept beside this file instead.
 * pages.c    A dump that nobody needs any more is given up between two pieces of memory, and one that nobody waits for does
 *            not fill the page cache.
 * programs.c, archive.c
 *            CRIU starts programs for each file system in memory, and to hold traffic back. What need not be is not started. */
#ifndef CAY_SHIM_H
#define CAY_SHIM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <sys/types.h>

/* Everything else is hidden: CRIU's own functions would take the place of those with the same name. */
#define EXPORTED __attribute__((visibility("default")))

typedef long (*ptrace_call)(int request, pid_t pid, void *address, void *data);

/* ---- memory.c ------------------------------------------------------------------------------------------------------ */

/* Gives the number of a descriptor to whoever wants it. */
void make_way(int number);

/* ---- locks.c ------------------------------------------------------------------------------------------------------- */

/* A process is traced from now on. */
void note_traced(pid_t pid);

/* Before the first process goes on: all are restored and stopped. */
void take_locks(ptrace_call real);

/* ---- cache.c ------------------------------------------------------------------------------------------------------- */

#define PLACE_ROOM 512

/* Where a file is that CRIU opens, in `room` if it is elsewhere. */
const char *place_of(const char *path, char *room);

/* `fd` was opened for what CRIU knows as `path`. */
void note_opened(const char *path, int fd);

/* ---- archive.c ----------------------------------------------------------------------------------------------------- */

/* Does what tar with these arguments would do; 0 if that is left to tar.
 *
 * outcome: what the program ends with */
int archive(char *const arguments[], int *outcome);

#endif
