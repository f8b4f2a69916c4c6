#include "cay.h"
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK 4096
/* Number of chunks after which other terminals get their turn. */
#define ROUNDS 16
/* Larger than a terminal's buffer. */
#define LAST (64u << 10)
#define OWN 2
#define EACH 3

enum state { EMPTY, FULL, OVER };

/* One direction: bytes that were read and not yet written. */
struct flow {
    enum state state;
    size_t at, length, passed;
    uint8_t bytes[CHUNK];
};

struct terminal {
    struct terminal *next;
    pid_t pid;
    int master, from_node, to_node, ending;
    struct flow in, out;
};

static struct terminal *terminals;
static struct pollfd own[OWN], *polled = own;
static size_t terminal_count;

static int grow(void)
{
    struct pollfd *grown = calloc(OWN + EACH * (terminal_count + 1), sizeof *grown);
    if (!grown)
        return 0;
    if (polled != own)
        free(polled);
    polled = grown;
    return 1;
}

struct terminal *terminal_new(int *node_in, int *node_out)
{
    int in[2], out[2];
    struct terminal *terminal = grow() ? calloc(1, sizeof *terminal) : NULL;
    if (!terminal)
        return NULL;
    if (pipe2(in, O_CLOEXEC | O_NONBLOCK)) {
        free(terminal);
        return NULL;
    }
    if (pipe2(out, O_CLOEXEC | O_NONBLOCK)) {
        int reason = errno;
        close(in[0]);
        close(in[1]);
        free(terminal);
        errno = reason;
        return NULL;
    }
    terminal->master = -1;
    terminal->from_node = in[0];
    terminal->to_node = out[1];
    *node_in = in[1];
    *node_out = out[0];
    terminal->next = terminals;
    terminals = terminal;
    terminal_count++;
    return terminal;
}

void terminal_begin(struct terminal *terminal, int master, pid_t pid)
{
    fcntl(master, F_SETFL, fcntl(master, F_GETFL) | O_NONBLOCK);
    terminal->master = master;
    terminal->pid = pid;
}

static void end(struct flow *flow, int *descriptor)
{
    flow->state = OVER;
    explicit_bzero(flow->bytes, sizeof flow->bytes);
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

void terminal_free(struct terminal *terminal)
{
    struct terminal **at = &terminals;
    while (*at != terminal)
        at = &(*at)->next;
    *at = terminal->next;
    terminal_count--;
    end(&terminal->in, &terminal->from_node);
    end(&terminal->out, &terminal->to_node);
    free(terminal);
}

/* A terminal that no process inside has open any more returns EIO, in both directions. */
static enum state pass(int from, int to, struct flow *flow)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (flow->at == flow->length) {
            ssize_t got = read(from, flow->bytes, sizeof flow->bytes);
            if (got <= 0)
                return got < 0 && (errno == EAGAIN || errno == EINTR) ? EMPTY : OVER;
            flow->at = 0;
            flow->length = (size_t)got;
        }
        ssize_t put = write(to, flow->bytes + flow->at, flow->length - flow->at);
        if (put <= 0)
            return put < 0 && (errno == EIO || errno == EPIPE) ? OVER : FULL;
        /* Wiped, because it may be a password, and the next input may be shorter. */
        explicit_bzero(flow->bytes + flow->at, (size_t)put);
        flow->at += (size_t)put;
        flow->passed += (size_t)put;
    }
    return FULL;
}

int terminal_copy(struct terminal *terminal)
{
    if (terminal->in.state != OVER)
        terminal->in.state = pass(terminal->from_node, terminal->master, &terminal->in);
    if (terminal->out.state != OVER)
        terminal->out.state = pass(terminal->master, terminal->to_node, &terminal->out);
    if (terminal->out.state == OVER)
        end(&terminal->out, &terminal->to_node);
    if (terminal->in.state == OVER || terminal->out.state == OVER)
        end(&terminal->in, &terminal->from_node);
    return terminal->out.state != FULL || terminal->out.passed > LAST;
}

void terminal_ending(struct terminal *terminal)
{
    terminal->ending = 1;
    terminal->out.passed = 0;
}

/* Descriptors that are not waited for are left out: poll reports a hang-up whatever events are requested. */
static void ask(const struct terminal *terminal, struct pollfd *at)
{
    const struct flow *in = &terminal->in, *out = &terminal->out;
    short of_master = (short)((in->state == FULL ? POLLOUT : 0) | (out->state == EMPTY ? POLLIN : 0));
    at[0] = (struct pollfd){.fd = of_master ? terminal->master : -1, .events = of_master};
    at[1] = (struct pollfd){.fd = in->state == EMPTY ? terminal->from_node : -1, .events = POLLIN};
    at[2] = (struct pollfd){.fd = out->state == FULL ? terminal->to_node : -1, .events = POLLOUT};
}

struct pollfd *terminals_poll(size_t *count)
{
    struct pollfd *at = polled + OWN;
    for (struct terminal *terminal = terminals; terminal; terminal = terminal->next, at += EACH)
        ask(terminal, at);
    *count = (size_t)(at - polled);
    return polled;
}

void terminals_copy(void (*through)(pid_t pid))
{
    const struct pollfd *at = polled + OWN;
    for (struct terminal *terminal = terminals; terminal; terminal = terminal->next, at += EACH) {
        if (!at[0].revents && !at[1].revents && !at[2].revents)
            continue;
        if (terminal_copy(terminal) && terminal->ending) {
            terminal->ending = 0;
            through(terminal->pid);
        }
    }
}
