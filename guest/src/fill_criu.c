/* The handshake with CRIU, which hands out a userfaultfd of each process that it restores. */
#include "fill.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The name that CRIU knows, in its work directory. */
#define SOCKET "lazy-pages.socket"
/* What CRIU sends in place of a process's number when all are restored. */
#define RESTORED 0x52535446

void listen_for_criu(const char *work)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SOCKET};
    if (chdir(work))
        die("fill: enter %s", work);
    unlink(SOCKET);
    shared->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (shared->listener < 0 || bind(shared->listener, (struct sockaddr *)&address, sizeof address)
        || listen(shared->listener, 1))
        die("fill: listen at %s", SOCKET);
}

static int send_device(int connection)
{
    int device = open(DEVICE, O_RDWR | O_CLOEXEC);
    if (device < 0)
        return -1;
    int failed = send_descriptor(connection, device, 0);
    close(device);
    return failed;
}

static void add_task(int origin)
{
    int descriptor = receive_descriptor(shared->connection);
    if (descriptor < 0)
        lose("CRIU did not hand out the memory of process %d", origin);
    if (shared->task_count == MOST_TASKS)
        lose("it has more than %d processes", MOST_TASKS);
    struct task *task = &shared->tasks[shared->task_count++];
    task->descriptor = descriptor;
    task->origin = origin;
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
    read_images(task);
    task->live = 1;
}

static void finish_handshake(void)
{
    uint64_t one = 1;
    close(shared->connection);
    close(shared->images);
    shared->connection = shared->images = -1;
    __atomic_store_n(&shared->report->stage, STAGE_FILLING, __ATOMIC_SEQ_CST);
    if (write(shared->ready, &one, sizeof one) != sizeof one)
        lose("its holder keeps its privileges");
    drop_privileges();
}

/* One message of CRIU: a process and its userfaultfd, a process without memory, or the end of the restore. A filler that
 * ends in the middle of it leaves what nobody can trust, as with an event. */
void hear_criu(void)
{
    int32_t number;
    begin_reading();
    ssize_t got = recv(shared->connection, &number, sizeof number, MSG_WAITALL);
    if (got != sizeof number)
        lose("CRIU ended before it had restored everything");
    if (number == RESTORED)
        finish_handshake();
    else if (number > 0)
        add_task(number);
    end_reading();
}

/* Whether the other end is a program of the host's root. */
static int is_root(int connection)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    return !getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) && peer.uid == 0;
}

void meet_criu(void)
{
    begin_reading();
    shared->connection = accept4(shared->listener, NULL, NULL, SOCK_CLOEXEC);
    if (shared->connection >= 0 && !is_root(shared->connection)) {
        close(shared->connection);
        shared->connection = -1;
        end_reading();
        return;
    }
    if (shared->connection < 0 || send_device(shared->connection))
        lose("CRIU cannot be given %s: %s", DEVICE, strerror(errno));
    close(shared->listener);
    shared->listener = -1;
    unlink(SOCKET);
    shared->report->stage = STAGE_RESTORING;
    end_reading();
}
