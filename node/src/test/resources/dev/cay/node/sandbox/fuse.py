# A small FUSE server and a bare client of the node, for tests. Speaks the kernel's protocol itself, without libfuse.
#
#   fuse.py serve DIRECTORY MODE [OPTIONS]   mounts by fusermount3, prints "mounted", serves one file named f
#   fuse.py ask mount|unmount PATH REST      asks the node as fusermount3 would, and prints its answer; with ASKER in the
#                                            environment in the name of a program that listens there
#
# MODE is plain, or what is never answered: lookup, read, write; or self: the server waits for its own answer.
import array
import errno
import os
import socket
import struct
import subprocess
import sys
import threading

CONTENT = b"served by a program\n"
INIT, LOOKUP, FORGET, GETATTR, SETATTR, OPEN, READ, WRITE = 26, 1, 2, 3, 4, 14, 15, 16
STATFS, RELEASE, FLUSH, OPENDIR, READDIR, RELEASEDIR, INTERRUPT, BATCH_FORGET = 17, 18, 25, 27, 28, 29, 36, 42


def descriptor_of(message):
    return array.array("i", message[1][0][2])[0]


def mount(directory, options):
    ours, theirs = socket.socketpair()
    command = ["fusermount3", "-o", options, "--", directory]
    environment = dict(os.environ, _FUSE_COMMFD=str(theirs.fileno()))
    program = subprocess.Popen(command, env=environment, pass_fds=[theirs.fileno()])
    theirs.close()
    message = ours.recvmsg(1, 64)
    if not message[1]:
        sys.exit(program.wait())
    # With auto_unmount the program waits for the end of this socket.
    globals()["kept"] = ours
    return descriptor_of(message)


def attributes(node):
    mode, size = (0o40755, 0) if node == 1 else (0o104755, len(CONTENT))
    return struct.pack("<6Q10I", node, size, 1, 0, 0, 0, 0, 0, 0, mode, 1, os.getuid(), os.getgid(), 0, 4096, 0)


def answer_to(kind, node, body):
    if kind == INIT:
        return 0, struct.pack("<4I2H2I2H8I", 7, 31, 65536, 1 | 1 << 16, 12, 9, 65536, 1, 32, 0, *[0] * 8)
    if kind == LOOKUP:
        known = body == b"f\0"
        return (0, struct.pack("<4Q2I", 2, 0, 1, 1, 0, 0) + attributes(2)) if known else (errno.ENOENT, b"")
    if kind in (GETATTR, SETATTR):
        return 0, struct.pack("<Q2I", 1, 0, 0) + attributes(node)
    if kind in (OPEN, OPENDIR):
        return 0, struct.pack("<Q2I", 7, 0, 0)
    if kind == READ:
        return 0, CONTENT
    if kind == WRITE:
        return 0, struct.pack("<2I", struct.unpack("<I", body[16:20])[0], 0)
    if kind == STATFS:
        return 0, struct.pack("<5Q10I", 0, 0, 0, 0, 0, 4096, 255, 4096, *[0] * 7)
    return (0, b"") if kind in (FLUSH, RELEASE, RELEASEDIR, READDIR) else (errno.ENOSYS, b"")


def serve(directory, mode, options):
    device = mount(directory, options)
    log = open("/var/tmp/fuse-%d.log" % os.getpid(), "w", buffering=1)
    print("mounted", os.getpid(), flush=True)
    silent = {"lookup": LOOKUP, "self": LOOKUP, "read": READ, "write": WRITE}.get(mode)
    if mode == "self":
        threading.Timer(0.5, lambda: os.stat(directory + "/f")).start()
    while True:
        try:
            request = os.read(device, 1 << 18)
        except OSError as e:
            print("ended", e, flush=True)
            return
        _, kind, unique, node, _, _, pid, _ = struct.unpack("<2I2Q4I", request[:40])
        log.write("%d %d\n" % (kind, pid))
        if kind == silent or kind in (FORGET, INTERRUPT, BATCH_FORGET):
            continue
        failed, body = answer_to(kind, node, request[40:])
        os.write(device, struct.pack("<IiQ", 16 + len(body), -failed, unique) + body)


def ask(what, path, rest):
    name = os.environ.get("ASKER") or "cay-fuse-" + os.urandom(16).hex()
    listener = socket.socket(socket.AF_UNIX)
    if "ASKER" not in os.environ:
        listener.bind("\0" + name)
        listener.listen(1)
    body = b"\0".join(text.encode() for text in (name, path, rest))
    node = socket.create_connection(("127.0.0.1", 49983))
    node.sendall(
        b"POST /fuse/%s HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/x-cay-fuse\r\n"
        b"Content-Length: %d\r\n\r\n%s" % (what.encode(), len(body), body))
    answer = b""
    while more := node.recv(65536):
        answer += more
    status, body = answer.split(b"\r\n\r\n")[0].split()[1], answer.split(b"\r\n\r\n", 1)[1]
    print(status.decode(), body.decode(), flush=True)
    if status == b"200" and what == "mount":
        connection, _ = listener.accept()
        descriptor = descriptor_of(connection.recvmsg(1, 64))
        if os.fork() == 0:
            # Keeps the connection, so that the mount stays.
            os.setsid()
            null = os.open("/dev/null", os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(null, number)
            os.read(descriptor, 1 << 18)
            threading.Event().wait()


if sys.argv[1] == "serve":
    serve(sys.argv[2], sys.argv[3], sys.argv[4] if len(sys.argv) > 4 else "rw")
else:
    ask(sys.argv[2], sys.argv[3], sys.argv[4] if len(sys.argv) > 4 else "")
