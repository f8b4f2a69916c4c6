/* Parses the request to start a process. */
#include "request.h"

#include <stdlib.h>
#include <string.h>

static char **take_strings(struct frame *frame)
{
    uint32_t count = take_u32(frame);
    if (frame->bad || count > (size_t)(frame->end - frame->at) / 4) {
        frame->bad = 1;
        return NULL;
    }
    char **list = calloc((size_t)count + 1, sizeof *list);
    if (!list) {
        frame->bad = 1;
        return NULL;
    }
    for (uint32_t i = 0; i < count && !frame->bad; i++)
        list[i] = take_string(frame);
    return list;
}

/* Wiped, because they may be credentials, and root in here can read this memory. */
static void free_strings(char **list)
{
    for (char **at = list; at && *at; at++) {
        explicit_bzero(*at, strlen(*at));
        free(*at);
    }
    free(list);
}

static void take_groups(struct frame *frame, struct spawn_request *request)
{
    uint32_t count = take_u32(frame);
    if (frame->bad || count > (size_t)(frame->end - frame->at) / 4) {
        frame->bad = 1;
        return;
    }
    request->groups = calloc(count ? count : 1, sizeof *request->groups);
    if (!request->groups) {
        frame->bad = 1;
        return;
    }
    request->group_count = count;
    for (uint32_t i = 0; i < count; i++)
        request->groups[i] = take_u32(frame);
}

void take_spawn_request(struct frame *frame, struct spawn_request *request, char **tag)
{
    request->flags = take_u32(frame);
    if (request->flags & WANTS_PTY)
        request->flags &= ~(uint32_t)WANTS_STDIN;
    request->columns = take_u16(frame);
    request->rows = take_u16(frame);
    request->uid = take_u32(frame);
    request->gid = take_u32(frame);
    take_groups(frame, request);
    request->cwd = take_string(frame);
    request->argv = take_strings(frame);
    request->env = take_strings(frame);
    *tag = take_string(frame);
    if (frame->at != frame->end)
        frame->bad = 1;
}

void free_spawn_request(struct spawn_request *request)
{
    free_strings(request->argv);
    free_strings(request->env);
    free(request->groups);
    free(request->cwd);
}
