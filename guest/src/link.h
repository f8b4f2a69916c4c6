/* The connection to the node: frames in, frames out, never blocking. */
#ifndef CAY_LINK_H
#define CAY_LINK_H

#include <stddef.h>
#include <stdint.h>

enum { OK = 128, ERROR = 129, EXIT = 130 };

#define MAX_DESCRIPTORS 3

/* A frame that came in, read from front to back; `bad` once it was shorter than what was asked of it. */
struct frame {
    uint8_t type;
    uint32_t request;
    const uint8_t *at, *end;
    int bad;
};

uint8_t take_u8(struct frame *frame);
uint16_t take_u16(struct frame *frame);
uint32_t take_u32(struct frame *frame);
/* A copy that ends in NUL, to be freed; NULL if the frame is bad. */
char *take_string(struct frame *frame);

/* A frame that goes out. */
struct answer {
    uint8_t *bytes;
    size_t length, room;
    int failed;
};

void begin(struct answer *answer, uint8_t type, uint32_t request);
void put_u8(struct answer *answer, uint8_t value);
void put_u32(struct answer *answer, uint32_t value);
void put_string(struct answer *answer, const char *text);

/* The descriptors are copied; the caller keeps its own. Frees the answer. Closes the link if the node does not read. */
void send_answer(struct answer *answer, const int *descriptors, int count);

int link_fd(void);
int link_wants_to_write(void);
void link_open(int fd);
void link_close(void);
void link_flush(void);
/* Reads what is there and hands every whole frame to `handle`, which returns 0 to cut the connection. */
void link_read(int (*handle)(struct frame *frame));

#endif
