#include "cay.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

int send_descriptor(int socket, int descriptor, int flags)
{
    char byte = 0;
    struct iovec part = {&byte, 1};
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    return sendmsg(socket, &message, flags | MSG_NOSIGNAL) == 1 ? 0 : -1;
}
