/* What both directions of `tree` share: the numbers of the stream's form, and how bytes are put and got. */
#ifndef TREE_H
#define TREE_H

#include "cay.h"

#include <stdint.h>
#include <time.h>

#define MAGIC "cay-tree-1"
#define CHUNK (1u << 20)
#define NO_MORE UINT64_MAX
#define MAX_VALUE (1u << 16)
#define MAX_LINK (1u << 16)

/* Writes the tree below `path` to standard output. */
int pack_tree(const char *path);

/* Makes the tree of standard input below `path`; with `keep_numbers`, with the same inode numbers. */
int unpack_tree(const char *path, int keep_numbers);

/* Bytes of the stream. All of them end the program when the stream does. */
void put(const void *bytes, size_t length);
void put8(uint8_t value);
void put16(uint16_t value);
void put32(uint32_t value);
void put64(uint64_t value);
void put_time(struct timespec time);

void get(void *bytes, size_t length);
uint8_t get8(void);
uint16_t get16(void);
uint32_t get32(void);
uint64_t get64(void);
struct timespec get_time(void);

/* Refuses a length that is more than `most`. */
size_t get_length(uint32_t length, uint32_t most);

#endif
