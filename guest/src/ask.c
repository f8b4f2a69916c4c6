/* Requests to the node, which listens on a port of every sandbox. */
#include "ask.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define NODE_PORT 49983
#define LARGEST_ANSWER (1u << 20)

const char *ask_as = "cay-guest";

void fail(const char *what, ...)
{
    va_list arguments;
    va_start(arguments, what);
    fprintf(stderr, "%s: ", ask_as);
    vfprintf(stderr, what, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

void add(struct text *text, const char *bytes, size_t length)
{
    if (text->length + length + 1 > text->room) {
        text->room = 2 * (text->length + length + 1);
        text->bytes = realloc(text->bytes, text->room);
        if (!text->bytes)
            fail("not enough memory");
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = 0;
}

void add_text(struct text *text, const char *bytes)
{
    add(text, bytes, strlen(bytes));
}

void add_header(struct text *request, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    add_text(request, name);
    add_text(request, ": ");
    add_text(request, value);
    add_text(request, "\r\n");
}

/* Reads to the end of the input; false on an error or above the limit. */
int read_all(int fd, struct text *text, size_t limit)
{
    char chunk[16384];
    ssize_t got;
    add(text, "", 0);
    while ((got = read(fd, chunk, sizeof chunk)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 || text->length + (size_t)got > limit)
            return 0;
        add(text, chunk, (size_t)got);
    }
    return 1;
}

static int connect_to_node(int seconds)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(NODE_PORT)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct timeval limit = {.tv_sec = seconds};
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) ||
        connect(fd, (struct sockaddr *)&address, sizeof address))
        fail("Cay does not answer: %s", strerror(errno));
    return fd;
}

static void send_all(int fd, const struct text *text)
{
    for (size_t sent = 0; sent < text->length;) {
        ssize_t now = send(fd, text->bytes + sent, text->length - sent, MSG_NOSIGNAL);
        if (now < 0 && errno != EINTR)
            return; /* The answer says why not. */
        sent += now > 0 ? (size_t)now : 0;
    }
}

static void add_character(struct text *text, unsigned long code)
{
    char bytes[4];
    size_t length = 0;
    if (code < 0x80)
        bytes[length++] = (char)code;
    else if (code < 0x800)
        bytes[length++] = (char)(0xc0 | code >> 6);
    else
        bytes[length++] = (char)(0xe0 | code >> 12);
    if (code >= 0x800)
        bytes[length++] = (char)(0x80 | (code >> 6 & 0x3f));
    if (code >= 0x80)
        bytes[length++] = (char)(0x80 | (code & 0x3f));
    add(text, bytes, length);
}

/* Reads a JSON string, starting after its opening quote. */
static void unquote(const char *from, struct text *text)
{
    for (; *from && *from != '"'; from++) {
        if (*from != '\\') {
            add(text, from, 1);
            continue;
        }
        char digits[5] = {0};
        switch (*++from) {
        case 0:
            return;
        case 'n':
            add(text, "\n", 1);
            break;
        case 't':
            add(text, "\t", 1);
            break;
        case 'u':
            for (int i = 0; i < 4 && from[1]; i++)
                digits[i] = *++from;
            add_character(text, strtoul(digits, NULL, 16));
            break;
        default:
            add(text, from, 1);
        }
    }
}

/* The field `message` of an answer, or the whole answer without one. */
const char *message_of(const char *body)
{
    static const char field[] = "\"message\":";
    const char *found = strstr(body, field);
    if (found) {
        found += sizeof field - 1;
        found += strspn(found, " ");
    }
    struct text message = {0};
    add(&message, "", 0);
    if (found && *found == '"')
        unquote(found + 1, &message);
    return message.length ? message.bytes : body;
}

/* HTTP/1.0, so that bodies are never chunked. */
const char *ask_node(const char *path, const struct text *headers, const struct text *body, int seconds, int *status)
{
    struct text request = {0}, answer = {0};
    char first[256];
    snprintf(first, sizeof first, "POST %s HTTP/1.0\r\nHost: localhost:%d\r\nContent-Length: %zu\r\n", path,
             NODE_PORT, body->length);
    add_text(&request, first);
    add(&request, headers->bytes, headers->length);
    add_text(&request, "\r\n");
    add(&request, body->bytes, body->length);
    int fd = connect_to_node(seconds);
    send_all(fd, &request);
    errno = 0;
    if (!read_all(fd, &answer, LARGEST_ANSWER) && !answer.length)
        fail("Cay does not answer: %s", errno == EAGAIN ? "it takes too long" : strerror(errno));
    close(fd);
    const char *end = strstr(answer.bytes, "\r\n\r\n");
    if (!end || sscanf(answer.bytes, "HTTP/1.%*1[01] %3d", status) != 1)
        fail("Cay does not answer as it should");
    end += 4;
    if (*status < 200 || *status > 299)
        fail("%s", message_of(end));
    return end;
}
