#ifndef ASK_H
#define ASK_H

#include <stddef.h>

struct text {
    char *bytes;
    size_t length, room;
};

/* What messages of the program begin with. */
extern const char *ask_as;

/* Prints "PROGRAM: WHAT" and ends the program with 1. */
void fail(const char *what, ...) __attribute__((noreturn, format(printf, 1, 2)));

void add(struct text *text, const char *bytes, size_t length);
void add_text(struct text *text, const char *bytes);

/* Adds nothing where there is no value. */
void add_header(struct text *request, const char *name, const char *value);

/* Reads all there is; false at an error or above the limit. */
int read_all(int fd, struct text *text, size_t limit);

/* Says something to the node and returns the body of its answer. Fails with the node's message if it refuses. */
const char *ask_node(const char *path, const struct text *headers, const struct text *body, int seconds, int *status);

/* The field `message` of an answer, or all of the answer. */
const char *message_of(const char *body);

#endif
