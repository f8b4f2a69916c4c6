"""Stands where a sandbox's guest should, and lies. The first argument says how."""
import array, os, random, socket, struct, sys

how, seed = sys.argv[1], int(sys.argv[2])
rng = random.Random(seed)
listener = socket.socket(socket.AF_UNIX)
listener.bind("\0cay")
listener.listen(8)
print("READY", flush=True)


def frame(kind, request, payload=b""):
    return struct.pack("<IBI", 5 + len(payload), kind, request) + payload


def number(value):
    return struct.pack("<I", value & 0xFFFFFFFF)


def lend(connection, data, descriptors):
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
    connection.sendmsg([data], rights if descriptors else [])


def take(connection):
    head = connection.recv(4, socket.MSG_WAITALL)
    if len(head) < 4:
        return None
    body = connection.recv(struct.unpack("<I", head)[0], socket.MSG_WAITALL)
    return body[0], struct.unpack("<I", body[1:5])[0]


def answer(connection, request):
    regular = os.open(sys.argv[0], os.O_RDONLY)
    device = os.open("/dev/zero", os.O_RDWR)
    directory = os.open("/", os.O_RDONLY)
    reader, writer = os.pipe()
    if how == "files":
        lend(connection, frame(128, request, number(7)), [regular, device])
    elif how == "directories":
        lend(connection, frame(128, request, number(7)), [directory, directory])
    elif how == "sockets":
        ends = socket.socketpair()
        lend(connection, frame(128, request, number(7)), [end.fileno() for end in ends])
    elif how == "named-pipes":
        name = f"{sys.argv[0]}.fifo"
        os.mkfifo(name)
        fifo = os.open(name, os.O_RDWR)
        os.unlink(name)
        lend(connection, frame(128, request, number(7)), [fifo, fifo])
        os.close(fifo)
    elif how == "too-many":
        lend(connection, frame(128, request, number(7)), [reader] * 200)
    elif how == "unasked":
        lend(connection, frame(128, request, number(7)), [reader, reader, reader, writer, regular])
    elif how == "none":
        connection.sendall(frame(128, request, number(7)))
    elif how == "stranger":
        connection.sendall(frame(128, request + 1000, number(7)))
    elif how == "length":
        connection.sendall(struct.pack("<IBI", 0x7FFFFFFF, 128, request))
    elif how == "negative":
        connection.sendall(struct.pack("<IBI", 0xFFFFFFFF, 128, request))
    elif how == "kind":
        connection.sendall(frame(77, request))
    elif how == "text":
        connection.sendall(frame(129, request, number(5) + number(0x7FFFFFFF)))
    elif how == "flood":
        exits = frame(130, 0, number(4) + number(0) + number(0) + b"\0")
        for _ in range(4000):
            connection.sendall(exits * 64)
    elif how == "half":
        connection.sendall(frame(128, request, number(7))[:6])
        connection.close()
    elif how == "random":
        for _ in range(50):
            junk = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 400)))
            lend(connection, junk, [reader] if rng.random() < 0.3 else [])
    elif how == "silent":
        pass
    for descriptor in (regular, device, directory, reader, writer):
        os.close(descriptor)


while True:
    connection, _ = listener.accept()
    try:
        while message := take(connection):
            kind, request = message
            if kind == 1:
                connection.sendall(frame(128, request, number(1)))
            else:
                answer(connection, request)
    except OSError:
        pass
