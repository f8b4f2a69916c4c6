#include "cay.h"
#include "link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_FRAME_IN (4u << 20)
#define MAX_FRAME_OUT (1u << 20)
#define MAX_QUEUED (4u << 20)
#define HEADER 4

struct queued {
    struct queued *next;
    size_t length, sent;
    int count, descriptors[MAX_DESCRIPTORS];
    uint8_t *bytes;
};

static int link_socket = -1;
static uint8_t *incoming;
static size_t incoming_length, incoming_room;
static struct queued *queue_head, **queue_tail = &queue_head;
static size_t queued_bytes;

/* --- reading a frame --- */

static const uint8_t *take(struct frame *frame, size_t length)
{
    if (frame->bad || (size_t)(frame->end - frame->at) < length) {
        frame->bad = 1;
        return NULL;
    }
    const uint8_t *bytes = frame->at;
    frame->at += length;
    return bytes;
}

uint8_t take_u8(struct frame *frame)
{
    const uint8_t *b = take(frame, 1);
    return b ? b[0] : 0;
}

uint16_t take_u16(struct frame *frame)
{
    const uint8_t *b = take(frame, 2);
    return b ? (uint16_t)(b[0] | b[1] << 8) : 0;
}

static uint32_t number(const uint8_t *b)
{
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

uint32_t take_u32(struct frame *frame)
{
    const uint8_t *b = take(frame, 4);
    return b ? number(b) : 0;
}

char *take_string(struct frame *frame)
{
    uint32_t length = take_u32(frame);
    const uint8_t *bytes = take(frame, length);
    if (!bytes || memchr(bytes, 0, length)) {
        frame->bad = 1;
        return NULL;
    }
    char *text = malloc((size_t)length + 1);
    if (!text) {
        frame->bad = 1;
        return NULL;
    }
    memcpy(text, bytes, length);
    text[length] = 0;
    return text;
}

/* --- writing one --- */

static void put(struct answer *answer, const void *bytes, size_t length)
{
    if (answer->failed)
        return;
    if (answer->length + length > answer->room) {
        size_t room = (answer->length + length) * 2;
        uint8_t *grown = realloc(answer->bytes, room);
        if (!grown) {
            answer->failed = 1;
            return;
        }
        answer->bytes = grown;
        answer->room = room;
    }
    memcpy(answer->bytes + answer->length, bytes, length);
    answer->length += length;
}

void put_u8(struct answer *answer, uint8_t value)
{
    put(answer, &value, 1);
}

void put_u32(struct answer *answer, uint32_t value)
{
    uint8_t b[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
    put(answer, b, sizeof b);
}

void put_string(struct answer *answer, const char *text)
{
    put_u32(answer, (uint32_t)strlen(text));
    put(answer, text, strlen(text));
}

void begin(struct answer *answer, uint8_t type, uint32_t request)
{
    *answer = (struct answer){0};
    put_u32(answer, 0);
    put_u8(answer, type);
    put_u32(answer, request);
}

/* --- the queue --- */

static void drop(struct queued *item)
{
    for (int i = 0; i < item->count; i++)
        close(item->descriptors[i]);
    free(item->bytes);
    free(item);
}

/* Messages of the node may contain credentials, and root in here can read this memory, so they are wiped after use. */
static void forget_incoming(void)
{
    if (incoming)
        explicit_bzero(incoming, incoming_room);
    free(incoming);
    incoming = NULL;
    incoming_length = incoming_room = 0;
}

void link_close(void)
{
    if (link_socket < 0)
        return;
    close(link_socket);
    link_socket = -1;
    while (queue_head) {
        struct queued *item = queue_head;
        queue_head = item->next;
        drop(item);
    }
    queue_tail = &queue_head;
    queued_bytes = 0;
    forget_incoming();
}

void link_open(int fd)
{
    link_close();
    link_socket = fd;
}

int link_fd(void)
{
    return link_socket;
}

int link_wants_to_write(void)
{
    return queue_head != NULL;
}

static ssize_t transmit(struct queued *item)
{
    struct iovec part = {item->bytes + item->sent, item->length - item->sent};
    union {
        char room[CMSG_SPACE(sizeof(int) * MAX_DESCRIPTORS)];
        struct cmsghdr aligned;
    } control;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (item->count && !item->sent) {
        size_t size = sizeof(int) * (size_t)item->count;
        memset(&control, 0, sizeof control);
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(size);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(header), item->descriptors, size);
    }
    return sendmsg(link_socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void link_flush(void)
{
    while (queue_head && link_socket >= 0) {
        struct queued *item = queue_head;
        ssize_t sent = transmit(item);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (sent < 0) {
            link_close();
            return;
        }
        item->sent += (size_t)sent;
        queued_bytes -= (size_t)sent;
        if (item->sent < item->length)
            continue;
        queue_head = item->next;
        if (!queue_head)
            queue_tail = &queue_head;
        drop(item);
    }
}

static struct queued *copy_into_item(struct answer *answer, const int *descriptors, int count)
{
    struct queued *item = calloc(1, sizeof *item);
    if (!item)
        return NULL;
    for (int i = 0; i < count; i++) {
        int copy = fcntl(descriptors[i], F_DUPFD_CLOEXEC, 3);
        if (copy < 0) {
            drop(item);
            return NULL;
        }
        item->descriptors[item->count++] = copy;
    }
    item->bytes = answer->bytes;
    item->length = answer->length;
    return item;
}

void send_answer(struct answer *answer, const int *descriptors, int count)
{
    size_t payload = answer->length - HEADER;
    struct queued *item = NULL;
    if (link_socket >= 0 && !answer->failed && payload <= MAX_FRAME_OUT && queued_bytes + payload <= MAX_QUEUED)
        item = copy_into_item(answer, descriptors, count);
    if (!item) {
        free(answer->bytes);
        link_close();
        return;
    }
    uint8_t header[HEADER] = {(uint8_t)payload, (uint8_t)(payload >> 8), (uint8_t)(payload >> 16),
                              (uint8_t)(payload >> 24)};
    memcpy(item->bytes, header, sizeof header);
    *queue_tail = item;
    queue_tail = &item->next;
    queued_bytes += item->length;
    link_flush();
}

/* --- reading the socket --- */

static int make_room(void)
{
    size_t wanted = 4096;
    if (incoming_length >= HEADER) {
        uint32_t length = number(incoming);
        wanted = HEADER + (size_t)length;
    }
    if (wanted <= incoming_length)
        wanted = incoming_length + 4096;
    if (wanted <= incoming_room)
        return 1;
    uint8_t *grown = malloc(wanted);
    if (!grown)
        return 0;
    size_t kept = incoming_length;
    if (kept)
        memcpy(grown, incoming, kept);
    forget_incoming();
    incoming = grown;
    incoming_length = kept;
    incoming_room = wanted;
    return 1;
}

/* Returns 0 when the connection has to be cut. */
static int handle_whole_frames(int (*handle)(struct frame *frame))
{
    size_t used = 0;
    int socket_before = link_socket;
    while (incoming_length - used >= HEADER) {
        uint32_t length = number(incoming + used);
        if (length < 5 || length > MAX_FRAME_IN)
            return 0;
        if (incoming_length - used < HEADER + (size_t)length)
            break;
        const uint8_t *body = incoming + used + HEADER;
        struct frame frame = {.type = body[0], .request = number(body + 1), .at = body + 5, .end = body + length};
        used += HEADER + (size_t)length;
        if (!handle(&frame))
            return 0;
        if (link_socket != socket_before)
            return 1;
    }
    if (used) {
        memmove(incoming, incoming + used, incoming_length - used);
        incoming_length -= used;
        explicit_bzero(incoming + incoming_length, used);
    }
    return 1;
}

void link_read(int (*handle)(struct frame *frame))
{
    if (!make_room()) {
        link_close();
        return;
    }
    ssize_t got = recv(link_socket, incoming + incoming_length, incoming_room - incoming_length, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    if (got <= 0) {
        link_close();
        return;
    }
    incoming_length += (size_t)got;
    if (!handle_whole_frames(handle)) {
        link_close();
        return;
    }
    if (!incoming_length && incoming_room > 65536)
        forget_incoming();
}
