/* cay-guest: one static program, several modes. Each mode has a file of its own; what they share is here. */
#ifndef CAY_H
#define CAY_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stddef.h>

int run_init(void);
int run_launch(int argc, char **argv);
int run_hook(int argc, char **argv);
int run_boot(int argc, char **argv);
int run_mend(int argc, char **argv);
int run_unplug(int argc, char **argv);
int run_disk(int argc, char **argv);
int run_tree(int argc, char **argv);
int run_gateway(int argc, char **argv);
int run_fuse(int argc, char **argv);
int run_fusermount(int argc, char **argv);
int run_fill(int argc, char **argv);

/* What a mode other than init ends with when it fails, after one line on stderr. */
#define FAILED 120

/* Prints "cay-guest: WHAT: errno text" and ends the program with FAILED. */
void die(const char *what, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* The same without errno, for wrong arguments. */
void refuse(const char *what, ...) __attribute__((noreturn, format(printf, 1, 2)));

unsigned long parse_number(const char *text, const char *what);

/* Sends one byte of zero with the descriptor; not 0 if the other side does not take it. */
int send_descriptor(int socket, int descriptor, int flags);

/* The descriptor that comes with the next byte; -1 if there is none. It is closed when another program is executed. */
int receive_descriptor(int socket);

#endif
